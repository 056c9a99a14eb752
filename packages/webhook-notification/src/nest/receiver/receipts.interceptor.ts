import {
  type CallHandler,
  ConflictException,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { from, lastValueFrom, type Observable } from 'rxjs';
import type { Receipts } from './receipts';
import { RECEIPTS, RECEIVER_OPTIONS, type WebhookReceiverOptions } from './receiver-options';

const transactions = new WeakMap<object, unknown>();

export const transactionOf = (request: object): unknown => transactions.get(request);

/** Calls the handler of an event once. */
@Injectable()
export class ReceiptsInterceptor implements NestInterceptor {
  constructor(
    @Inject(RECEIVER_OPTIONS) private readonly options: WebhookReceiverOptions,
    @Inject(RECEIPTS) private readonly receipts: Receipts,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return from(this.handleOnce(context.switchToHttp().getRequest<Received>(), next));
  }

  private async handleOnce(request: Received, next: CallHandler): Promise<unknown> {
    const { headers } = request;
    const again = this.options.redeliveries === true && headers['x-service-trigger'] === 'redelivery';
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
