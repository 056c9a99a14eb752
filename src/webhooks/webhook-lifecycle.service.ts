import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ApiError, MESSAGES } from '../infrastructure/errors/api-error';

/** Why the pending deliveries of a webhook are canceled. It is their error code. */
export type CancelReason = 'webhook_disabled' | 'webhook_deleted';

/**
 * @param atOnce how many pending deliveries may be canceled in the transaction of `manager`, which takes up to 0.1 ms for each; null:
 *   all. More are canceled in the background.
 */
type Listener = (
  manager: EntityManager,
  webhookId: string,
  reason: CancelReason,
  atOnce: number | null,
) => Promise<void>;

/** A request, and attempts that find that a webhook is gone, wait for this many rows. */
const MAX_AT_ONCE = 5000;

/** Earlier pauses have ended. In the order of the primary key, so that these are not read. */
const IS_NEWEST = `
  webhook_id = $1 and started_at = (
    select started_at from webhook_service.webhook_pauses
    where webhook_id between $1 and $1 order by webhook_id desc, started_at desc limit 1)`;

/**
 * Records when a webhook was inactive, because events missed in that time can be recovered. Continues a pause that
 * ended less than a minute ago, so that frequent switching adds at most one row per minute.
 */
const BEGIN_PAUSE = `
  with resumed as (
    update webhook_service.webhook_pauses set ended_at = null
    where ${IS_NEWEST} and ended_at > clock_timestamp() - interval '1 minute' returning webhook_id
  )
  insert into webhook_service.webhook_pauses (webhook_id) select $1 where not exists (select from resumed)`;
const END_PAUSE = `
  update webhook_service.webhook_pauses set ended_at = clock_timestamp() where ${IS_NEWEST} and ended_at is null`;

/** While it is stopping, its pending deliveries are being canceled in the background; see deliveries/rows/stopping.ts. */
const IS_STOPPING = 'select 1 from webhook_service.stopping_webhooks where webhook_id = $1';

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
    await this.stop(manager, webhookId, 'webhook_disabled', MAX_AT_ONCE);
  }

  /**
   * Stops pending deliveries again when a webhook is activated: an attempt that failed while the webhook was being
   * disabled may have left a retry, which must not be sent.
   */
  async activated(manager: EntityManager, webhookId: string): Promise<void> {
    const stopping = await manager.query<unknown[]>(IS_STOPPING, [webhookId]);
    if (stopping.length > 0) throw new ApiError('webhook_stopping', MESSAGES.webhookStopping);
    await manager.query(END_PAUSE, [webhookId]);
    await this.stop(manager, webhookId, 'webhook_disabled', null);
  }

  /**
   * Stops the pending deliveries of a webhook whose row is deleted.
   * @param isAwaited false cancels all of them in the background
   */
  async deleted(manager: EntityManager, webhookId: string, isAwaited = true): Promise<void> {
    await this.stop(manager, webhookId, 'webhook_deleted', isAwaited ? MAX_AT_ONCE : 0);
  }

  private async stop(
    manager: EntityManager,
    webhookId: string,
    reason: CancelReason,
    atOnce: number | null,
  ): Promise<void> {
    for (const listener of this.listeners) await listener(manager, webhookId, reason, atOnce);
  }
}
