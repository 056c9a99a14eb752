import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** Why the pending deliveries of a webhook are canceled: their error code. */
export type CancelReason = 'webhook_disabled' | 'webhook_deleted';

type Listener = (manager: EntityManager, webhookId: string, reason: CancelReason) => Promise<void>;

/** What a webhook missed while it was inactive can be recovered: this remembers when it was. */
const BEGIN_PAUSE = 'insert into webhook_service.webhook_pauses (webhook_id) values ($1)';
const END_PAUSE = `
  update webhook_service.webhook_pauses set ended_at = clock_timestamp() where webhook_id = $1 and ended_at is null`;

/**
 * What must happen, in the same transaction, when a webhook is disabled, activated or deleted. The rooms of deliveries, of
 * which this room knows nothing, register here what must happen to theirs: `CancellationService` cancels what is pending,
 * `RecoveryEndService` ends a running recovery.
 */
@Injectable()
export class WebhookLifecycleService {
  private readonly listeners: Listener[] = [];

  /** Calls `listener` whenever deliveries of a webhook must stop, in the transaction that makes it so. */
  whenStopped(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** The webhook has become inactive, or was made so. */
  async disabled(manager: EntityManager, webhookId: string): Promise<void> {
    await manager.query(BEGIN_PAUSE, [webhookId]);
    await this.stop(manager, webhookId, 'webhook_disabled');
  }

  /**
   * The webhook has become active again. It stops once more what is pending: an attempt that failed while the webhook was
   * being disabled may have left a retry, which must not be revived.
   */
  async activated(manager: EntityManager, webhookId: string): Promise<void> {
    await manager.query(END_PAUSE, [webhookId]);
    await this.stop(manager, webhookId, 'webhook_disabled');
  }

  /** The webhook's row is deleted. */
  async deleted(manager: EntityManager, webhookId: string): Promise<void> {
    await this.stop(manager, webhookId, 'webhook_deleted');
  }

  private async stop(manager: EntityManager, webhookId: string, reason: CancelReason): Promise<void> {
    for (const listener of this.listeners) await listener(manager, webhookId, reason);
  }
}
