export { MemoryReceipts } from './receiver/memory-receipts';
export { PostgresReceipts, type PostgresReceiptsOptions } from './receiver/postgres-receipts';
export { type Receipts } from './receiver/receipts';
export { ReceiveWebhooks, WebhookEvent, WebhookTransaction } from './receiver/receive-webhooks.decorator';
export { WebhookReceiverModule, type WebhookReceiverOptions } from './receiver/webhook-receiver.module';
export { WebhookSignatureGuard, type WebhookSignatureGuardOptions } from './receiver/webhook-signature.guard';
