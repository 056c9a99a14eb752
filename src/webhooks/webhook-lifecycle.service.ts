import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** Why the pending deliveries of a webhook are canceled. It is their error code. */
export type CancelReason = 'webhook_disabled' | 'webhook_deleted';

type Listener = (manager: EntityManager, webhookId: string, reason: CancelReason) => Promise<void>;

/**
 * Records when a webhook was inactive, because events missed in that time can be recovered. Continues a pause that
 * ended less than a minute ago, so that frequent switching adds at most one row per minute.
 */
const BEGIN_PAUSE = `
  with resumed as (
    update webhook_service.webhook_pauses set ended_at = null
    where webhook_id = $1 and ended_at > clock_timestamp() - interval '1 minute' returning webhook_id
  )
  insert into webhook_service.webhook_pauses (webhook_id) select $1 where not exists (select from resumed)`;
const END_PAUSE = `
  update webhook_service.webhook_pauses set ended_at = clock_timestamp() where webhook_id = $1 and ended_at is null`;

/**
 * Runs the side effects of disabling, activating or deleting a webhook, in the same transaction. This module does not
 * depend on deliveries, so their modules register listeners here: `CancellationService` cancels pending deliveries,
 * `RecoveriesService` ends a running recovery.
 */
@Injectable()
export class WebhookLifecycleService {
  private readonly listeners: Listener[] = [];

  /** Registers a listener that runs whenever deliveries of a webhook must stop, in the transaction that stops them. */
  whenStopped(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Stops the pending deliveries of a webhook that was disabled, or created inactive. */
  async disabled(manager: EntityManager, webhookId: string): Promise<void> {
    await manager.query(BEGIN_PAUSE, [webhookId]);
    await this.stop(manager, webhookId, 'webhook_disabled');
  }

  /**
   * Stops pending deliveries again when a webhook is activated: an attempt that failed while the webhook was being
   * disabled may have left a retry, which must not be sent.
   */
  async activated(manager: EntityManager, webhookId: string): Promise<void> {
    await manager.query(END_PAUSE, [webhookId]);
    await this.stop(manager, webhookId, 'webhook_disabled');
  }

  /** Stops the pending deliveries of a webhook whose row is deleted. */
  async deleted(manager: EntityManager, webhookId: string): Promise<void> {
    await this.stop(manager, webhookId, 'webhook_deleted');
  }

  private async stop(manager: EntityManager, webhookId: string, reason: CancelReason): Promise<void> {
    for (const listener of this.listeners) await listener(manager, webhookId, reason);
  }
}
