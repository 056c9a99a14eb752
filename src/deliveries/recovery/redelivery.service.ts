import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ApiError, MESSAGES } from '../../infrastructure/errors/api-error';
import { Delivery } from '../rows/delivery.entity';
import { DeliveryLogService } from '../log/delivery-log.service';
import { RetentionCutoffService } from '../rows/retention-cutoff.service';
import { WaitingRowsRepository } from '../rows/waiting-rows.repository';
import { RecoveriesRepository } from './recoveries.repository';
import { SendQueue } from '../send.queue';

const KEPT = 'select 1 from webhook_service.events where id = $1 and id >= $2';

/** The attempt that results from a redelivery: a new one, or a pending one that is due now. */
export interface Redelivery {
  delivery: Delivery;
  isNew: boolean;
}

@Injectable()
export class RedeliveryService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly recoveries: RecoveriesRepository,
    private readonly rows: WaitingRowsRepository,
    private readonly cutoff: RetentionCutoffService,
    private readonly log: DeliveryLogService,
    private readonly queue: SendQueue,
  ) {}

  /** Makes a pending attempt due now, or inserts and enqueues a new one. It is stored when this resolves. */
  async redeliver(userId: string, webhookId: string, deliveryId: string): Promise<Redelivery> {
    const { delivery } = await this.log.read(userId, webhookId, deliveryId);
    if (delivery.trigger === 'test') throw new ApiError('test_not_redeliverable', MESSAGES.testNotRedelivered);
    if (delivery.status === 'pending') return { delivery: await this.makeDue(webhookId, deliveryId), isNew: false };
    const inserted = await this.insert(webhookId, delivery.eventId);
    if (inserted.url !== null) await this.queue.enqueue([inserted.id], inserted);
    return { delivery: inserted, isNew: true };
  }

  private makeDue(webhookId: string, id: string): Promise<Delivery> {
    return this.whileActive(webhookId, async (manager) => {
      if (!(await this.rows.makeDue(manager, webhookId, id)))
        throw new ApiError('delivery_pending', MESSAGES.attemptPending);
      return manager.findOneByOrFail(Delivery, { id });
    });
  }

  /** Returns the row as it was inserted: once it is committed, a worker may send it at any moment. */
  private insert(webhookId: string, eventId: string): Promise<Delivery> {
    return this.whileActive(webhookId, async (manager) => {
      const kept = await manager.query<unknown[]>(KEPT, [eventId, this.cutoff.firstKeptId()]);
      if (kept.length === 0) throw new ApiError('event_expired', MESSAGES.eventPastRetention);
      const [id] = await this.rows.insert(manager, webhookId, [eventId], 'redelivery');
      if (id === undefined) throw new ApiError('delivery_pending', MESSAGES.attemptPending);
      return manager.findOneByOrFail(Delivery, { id });
    });
  }

  private whileActive<Result>(webhookId: string, act: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    return this.dataSource.transaction(async (manager) => {
      const webhook = await this.recoveries.lockWebhook(manager, webhookId, true);
      if (!webhook) throw new ApiError('not_found', MESSAGES.webhookNotFound);
      if (!webhook.active) throw new ApiError('webhook_inactive', MESSAGES.webhookInactive);
      return act(manager);
    });
  }
}
