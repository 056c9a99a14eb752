export { type ConsoleLinkOptions, ConsoleLinksService } from './nest/console-links.service';
export { database, type DatabaseOptions } from './nest/database.transport';
export { EventRefusedError } from './nest/event-refused.error';
export { http, type HttpOptions } from './nest/http.transport';
export { outboxStatements, type OutboxStatements } from './nest/outbox-statements';
export { EventsService, type EventToPublish, PUBLISHED_CHANNEL, type PublishOptions } from './nest/events.service';
export {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromMikroOrm,
  fromPostgresJs,
  fromPrisma,
  fromSequelize,
  type Transaction,
} from './nest/transaction';
export type { ValidatedEvent, PublishedEvent, ServicePlace, Transport } from './nest/transport';
export { WebhookNotificationModule, type WebhookNotificationOptions } from './nest/webhook-notification.module';
export { WebhooksClient } from './nest/webhooks.client';
