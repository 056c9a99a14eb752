import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { ApiError } from '../../plumbing/errors/api-error';
import { MESSAGES } from '../../plumbing/errors/messages';
import { Delivery } from '../delivery.entity';
import { DeliveryLogService } from '../log/delivery-log.service';
import { RedeliveriesRepository } from './redeliveries.repository';
import { SendQueue } from '../send.queue';

/** Sends an event to a webhook once more, when a user asks for it. */
@Injectable()
export class RedeliveryService {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly redeliveries: RedeliveriesRepository,
    private readonly log: DeliveryLogService,
    private readonly queue: SendQueue,
  ) {}

  /**
   * Inserts and offers a new attempt for the event of this delivery. The attempt is stored when this resolves.
   * @throws ApiError 404 when the user has no such webhook or delivery; 409 for a test, an inactive webhook, an event
   *   past retention, or an event with a pending attempt
   */
  async redeliver(userId: string, webhookId: string, deliveryId: string): Promise<Delivery> {
    const { delivery } = await this.log.read(userId, webhookId, deliveryId);
    if (delivery.trigger === 'test') throw new ApiError(409, MESSAGES.testNotRedelivered);
    const inserted = await this.insert(webhookId, delivery.eventId);
    await this.queue.offer([inserted.id], inserted);
    return inserted;
  }

  /** Answers the row as it was inserted: once it is committed, a worker may send it at any moment. */
  private insert(webhookId: string, eventId: string): Promise<Delivery> {
    return this.dataSource.transaction(async (manager) => {
      const webhook = await this.redeliveries.lockWebhook(manager, webhookId);
      if (!webhook) throw new ApiError(404, MESSAGES.webhookNotFound);
      if (!webhook.active) throw new ApiError(409, MESSAGES.webhookInactive);
      if (!(await this.redeliveries.isKept(manager, eventId))) throw new ApiError(409, MESSAGES.eventPastRetention);
      const [id] = await this.redeliveries.insert(manager, webhookId, [eventId]);
      if (id === undefined) throw new ApiError(409, MESSAGES.attemptPending);
      return manager.findOneByOrFail(Delivery, { id });
    });
  }
}
