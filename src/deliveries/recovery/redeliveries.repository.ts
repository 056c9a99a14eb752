import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ClockService } from '../../infrastructure/database/clock.service';
import type { Webhook } from '../../webhooks/webhook.entity';
import { deferredLease, hasRate, insertedLease } from '../lease';
import { RetentionCutoffService } from '../retention/retention-cutoff.service';

/** Redeliveries are inserted under this lock, so that two transactions never both see an event without a pending attempt. */
const LOCK_WEBHOOK = 'select active, filter, url from webhook_service.webhooks where id = $1 for no key update';

const MOMENT = `interval '2 seconds'`;

const KEPT = 'select 1 from webhook_service.events where id = $1 and id >= $2';

/** Skips events with a pending attempt, and events that are past retention. */
const INSERT_REDELIVERIES = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until)
  select r.id, w.id, w.user_id, e.id, e.name, w.url, 1, 'redelivery', 'pending', now(), ${insertedLease('w.url', 'now()')}
  from webhook_service.webhooks w
  cross join unnest($2::uuid[], $3::uuid[]) as r (id, event_id)
  join webhook_service.events e on e.id = r.event_id
  where w.id = $1 and e.id >= $4 and not exists (
    select from webhook_service.deliveries p where p.webhook_id = w.id and p.event_id = e.id and p.status = 'pending')
  returning id`;

/**
 * Defers a pending row whose attempt has not begun, so that it is dispatched: its job, when it starts, finds the row deferred or
 * claimed. A row that has been due for less than two seconds is about to be sent anyway; one that waits for the rate of its webhook
 * or for the egress proxy goes on waiting.
 * A row without a url stays without a holder, for the next consumer.
 */
const MAKE_DUE = `
  update webhook_service.deliveries
  set scheduled_at = now(), changed_in = pg_current_xact_id(), parked = url is not null,
      leased_until = case when url is null then 'infinity' else ${deferredLease('deliveries')} end
  where id = $1 and webhook_id = $2 and status = 'pending' and not claimed
    and (scheduled_at > now() + ${MOMENT} and error_code is null
      or parked and scheduled_at < now() - ${MOMENT} and not ${hasRate('deliveries')})
  returning id`;

type LockedWebhook = Pick<Webhook, 'active' | 'filter' | 'url'>;

/** The statements of redelivery and recovery. They run in the caller's transaction. */
@Injectable()
export class RedeliveriesRepository {
  constructor(
    private readonly clock: ClockService,
    private readonly cutoff: RetentionCutoffService,
  ) {}

  /**
   * Like `lockWebhook`, but also returns null when another transaction has locked the webhook, so that other recoveries need not
   * wait for the lock.
   */
  async tryToLockWebhook(manager: EntityManager, webhookId: string): Promise<LockedWebhook | null> {
    const [webhook] = await manager.query<LockedWebhook[]>(`${LOCK_WEBHOOK} skip locked`, [webhookId]);
    return webhook ?? null;
  }

  /**
   * Locks the webhook and returns whether it is active, and its filter; neither can change until the transaction ends. Returns
   * null when the webhook is deleted.
   */
  async lockWebhook(manager: EntityManager, webhookId: string): Promise<LockedWebhook | null> {
    const [webhook] = await manager.query<LockedWebhook[]>(LOCK_WEBHOOK, [webhookId]);
    return webhook ?? null;
  }

  /** Returns true when the event exists and is within retention. */
  async isKept(manager: EntityManager, eventId: string): Promise<boolean> {
    return (await manager.query<unknown[]>(KEPT, [eventId, this.cutoff.firstKeptId()])).length > 0;
  }

  /** Makes a pending attempt due now. Returns false when it is already due or in progress. */
  async makeDue(manager: EntityManager, webhookId: string, id: string): Promise<boolean> {
    const [rows] = await manager.query<[unknown[], number]>(MAKE_DUE, [id, webhookId]);
    return rows.length > 0;
  }

  /**
   * Inserts an attempt for each of these events that is within retention and has none pending. Returns the ids of the attempts.
   * Must be called under the lock of the webhook, in the same transaction.
   */
  async insert(manager: EntityManager, webhookId: string, eventIds: readonly string[]): Promise<string[]> {
    const ids = eventIds.map(() => this.clock.newId().id);
    const rows = await manager.query<{ id: string }[]>(INSERT_REDELIVERIES, [
      webhookId,
      ids,
      eventIds,
      this.cutoff.firstKeptId(),
    ]);
    return rows.map(({ id }) => id);
  }
}
