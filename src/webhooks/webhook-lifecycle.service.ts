import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** Why the pending deliveries of a webhook are canceled. It is their error code. */
export type CancelReason = 'webhook_disabled' | 'webhook_deleted';

type Listener = (manager: EntityManager, webhookId: string, reason: CancelReason) => Promise<void>;

/**
 * Remembers when a webhook was inactive, because what it missed then can be recovered. A pause that ended less than a
 * minute ago goes on: who switches a webhook on and off all the time has one row a minute.
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
 * What must happen, in the same transaction, when a webhook is disabled, activated or deleted. This room knows nothing
 * of deliveries, so their rooms register listeners here: `CancellationService` cancels what is pending,
 * `RecoveryEndService` ends a running recovery.
 */
@Injectable()
export class WebhookLifecycleService {
  private readonly listeners: Listener[] = [];

  /** Calls `listener` whenever deliveries of a webhook must stop, in the transaction that stops them. */
  whenStopped(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** To be called when a webhook has become inactive, or was created so. Stops what is pending. */
  async disabled(manager: EntityManager, webhookId: string): Promise<void> {
    await manager.query(BEGIN_PAUSE, [webhookId]);
    await this.stop(manager, webhookId, 'webhook_disabled');
  }

  /**
   * To be called when a webhook has become active again. Stops what is pending once more: an attempt that failed while
   * the webhook was being disabled may have left a retry, and that retry must not be sent.
   */
  async activated(manager: EntityManager, webhookId: string): Promise<void> {
    await manager.query(END_PAUSE, [webhookId]);
    await this.stop(manager, webhookId, 'webhook_disabled');
  }

  /** To be called when the webhook's row is deleted. Stops what is pending. */
  async deleted(manager: EntityManager, webhookId: string): Promise<void> {
    await this.stop(manager, webhookId, 'webhook_deleted');
  }

  private async stop(manager: EntityManager, webhookId: string, reason: CancelReason): Promise<void> {
    for (const listener of this.listeners) await listener(manager, webhookId, reason);
  }
}
