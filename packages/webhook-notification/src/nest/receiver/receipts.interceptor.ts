import {
  type CallHandler,
  ConflictException,
  type ExecutionContext,
  Inject,
  Injectable,
  InternalServerErrorException,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { from, lastValueFrom, type Observable, of } from 'rxjs';
import type { Receipts } from './receipts';
import { HANDLED_EVENTS, RECEIPTS, RECEIVER_OPTIONS, type WebhookReceiverOptions } from './receiver-options';
import { eventOf } from './webhook-signature.guard';

const transactions = new WeakMap<object, unknown>();

export const transactionOf = (request: object): unknown => transactions.get(request);

/** Calls the handler of an event once. */
@Injectable()
export class ReceiptsInterceptor implements NestInterceptor {
  constructor(
    @Inject(RECEIVER_OPTIONS) private readonly options: WebhookReceiverOptions,
    @Inject(RECEIPTS) private readonly receipts: Receipts,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Received>();
    const names = this.reflector.get<string[] | undefined>(HANDLED_EVENTS, context.getHandler()) ?? [];
    if (names.length > 0 && !names.includes(this.nameOf(request))) return of(undefined);
    return from(this.handleOnce(request, next));
  }

  private nameOf(request: Received): string {
    const event = eventOf(request);
    if (typeof event?.event === 'string') return event.event;
    if (event && 'unsigned' in event && this.options.trustHeaders === true) return event.unsigned.event ?? '';
    throw new InternalServerErrorException(
      'No signature covers the name of this event: set trustHeaders of WebhookReceiverModule, or @ReceiveWebhooks() without names.',
    );
  }

  private async handleOnce(request: Received, next: CallHandler): Promise<unknown> {
    const { headers } = request;
    const { redeliveries, headerPrefix = 'x-service' } = this.options;
    const again = redeliveries === true && headers[`${headerPrefix}-trigger`] === 'redelivery';
    let answer: unknown;
    const received = await this.receipts.once(String(headers['webhook-id']), again, async (transaction) => {
      transactions.set(request, transaction);
      answer = await lastValueFrom(next.handle(), { defaultValue: undefined });
    });
    if (received === 'under_way') throw new ConflictException('This event is being handled by another request.');
    return answer;
  }
}

interface Received {
  headers: Record<string, string | string[] | undefined>;
}
