import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  HttpCode,
  SetMetadata,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ReceiptsInterceptor, transactionOf } from './receipts.interceptor';
import { ReceiverGuard } from './receiver.guard';
import { HANDLED_EVENTS } from './receiver-options';
import { eventOf } from './webhook-signature.guard';

/**
 * Makes a handler of deliveries of a `@Post()`: only genuine ones reach it (401), each event once. A repeat of an event that was
 * handled is answered with 200, and one that is being handled with 409, so that the service tries it again later. When the handler
 * throws, the event was not handled.
 * @param names of the events that the handler is called for; others are answered with 200. None: all events. Under the format
 * `payload` no signature covers a name: with names, such a delivery is answered with 500 unless `trustHeaders` is true
 */
export const ReceiveWebhooks = (...names: string[]): MethodDecorator =>
  applyDecorators(
    SetMetadata(HANDLED_EVENTS, names),
    HttpCode(200),
    UseGuards(ReceiverGuard),
    UseInterceptors(ReceiptsInterceptor),
  );

/** The verified event: a `ReceivedEvent`, or a `ReceivedPayload` under the format `payload`. */
export const WebhookEvent = createParamDecorator((_: unknown, context: ExecutionContext) =>
  eventOf(context.switchToHttp().getRequest<object>()),
);

/** The transaction in which the event is noted as handled; undefined with `MemoryReceipts`. */
export const WebhookTransaction = createParamDecorator((_: unknown, context: ExecutionContext) =>
  transactionOf(context.switchToHttp().getRequest<object>()),
);
