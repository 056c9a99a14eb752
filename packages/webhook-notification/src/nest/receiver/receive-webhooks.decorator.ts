import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  HttpCode,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ReceiptsInterceptor, transactionOf } from './receipts.interceptor';
import { ReceiverGuard } from './receiver.guard';

/**
 * Makes a handler of deliveries of a `@Post()`: only genuine ones reach it (401), each event once. A repeat of an event that was
 * handled is answered with 200, and one that is being handled with 409, so that the service tries it again later. When the handler
 * throws, the event was not handled.
 */
export const ReceiveWebhooks = (): MethodDecorator =>
  applyDecorators(HttpCode(200), UseGuards(ReceiverGuard), UseInterceptors(ReceiptsInterceptor));

/** The transaction in which the event is noted as handled; undefined with `MemoryReceipts`. */
export const WebhookTransaction = createParamDecorator((_: unknown, context: ExecutionContext) =>
  transactionOf(context.switchToHttp().getRequest<object>()),
);
