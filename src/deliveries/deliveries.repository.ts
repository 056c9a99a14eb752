import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ClockService } from '../plumbing/database/clock.service';
import { idBounds } from '../plumbing/database/id-bounds';
import { type Statement, StatementsService } from '../plumbing/database/statements.service';
import type { DueDelivery, DueWebhook, Outcome, Written } from './attempt';
import type { DeliveryError } from './delivery-error';
import { JOB_LEASE } from './lease';
import { columnsOf } from './outcome-columns';

const LOAD_DUE: Statement = {
  name: 'load_due_deliveries',
  text: `
    select d.id, d.webhook_id as "webhookId", d.user_id as "userId", d.event_id as "eventId", d.event, d.attempt, d.trigger,
           d.status, d.parked,
           ceil(extract(epoch from d.scheduled_at - now()) * 1000)::float8 as "dueInMs",
           (extract(epoch from d.leased_until) * 1000)::float8 as "leasedUntilMs",
           (extract(epoch from d.leased_until - now()) * 1000)::float8 as "leaseEndsInMs", e.body, e.traceparent,
           w.url, w.secret as "sealedSecret", w.active,
           case when w.previous_secret_expires_at > now() then w.previous_secret end as "sealedPreviousSecret"
    from webhook_service.deliveries d
    join webhook_service.events e on e.id = d.event_id
    left join webhook_service.webhooks w on w.id = d.webhook_id
    where d.id = any($1::uuid[]) and d.id between $2 and $3`,
};

const RECORD: Statement = {
  name: 'record_attempts',
  text: `
    with outcome as (
      select * from json_to_recordset($1::json) as o
        (id uuid, status text, error_code text, error_message text, url text, attempted_at timestamptz, duration_ms int,
         request_headers json, response_status int, response_headers json, response_body text,
         response_body_truncated boolean, next_id uuid, delay_ms float8)
    ), done as (
      update webhook_service.deliveries d set
        status = o.status, error_code = o.error_code, error_message = o.error_message, url = coalesce(o.url, d.url),
        -- A process measures PostgreSQL's clock to within milliseconds: the order within a row is kept exactly.
        attempted_at = case when o.attempted_at is not null then greatest(o.attempted_at, d.scheduled_at) end,
        completed_at = greatest(now(), o.attempted_at + o.duration_ms * interval '1 millisecond', d.scheduled_at),
        duration_ms = o.duration_ms,
        request_headers = o.request_headers, response_status = o.response_status,
        response_headers = o.response_headers, response_body = o.response_body,
        response_body_truncated = o.response_body_truncated,
        -- None for a webhook that was disabled after the row was inserted: nobody would cancel it.
        next_attempt_at = case when d.status = 'pending' and o.delay_ms is not null and exists (
          select from webhook_service.webhooks w where w.id = d.webhook_id and w.active)
          then now() + o.delay_ms * interval '1 millisecond' end
      from outcome o
      where d.id = o.id and d.id between $2 and $3
        and (d.status = 'pending' or (d.status = 'canceled' and d.attempted_at is null and o.attempted_at is not null))
      returning d.*, o.next_id, o.delay_ms
    ), next as (
      insert into webhook_service.deliveries
        (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until)
      select next_id, webhook_id, user_id, event_id, event, url, attempt + 1, trigger, 'pending', next_attempt_at,
             next_attempt_at + ${JOB_LEASE}
      from done where next_attempt_at is not null
    )
    select id, status,
           case when next_attempt_at is not null then next_id end as "nextId",
           case when next_attempt_at is not null then delay_ms end as "nextInMs",
           (select consecutive_failures from webhook_service.webhooks w where w.id = webhook_id) as "consecutiveFailures"
    from done`,
};

const RELEASE_LEASES: Statement = {
  name: 'release_leases',
  text: `
    update webhook_service.deliveries set leased_until = scheduled_at
    where id = any($1::uuid[]) and id between $2 and $3 and status = 'pending'`,
};

/**
 * A job whose id is the delivery's is the only one that the queue will hold for it. When its lease was released to the
 * sweeper, or the sweeper took the row without being able to queue another job (this one was still known), the job
 * reclaims the lease. Otherwise the row would wait until the sweeper's lease expires.
 */
const RECLAIM_LEASE: Statement = {
  name: 'reclaim_lease',
  text: `
    update webhook_service.deliveries set leased_until = now() + ${JOB_LEASE}
    where id = $1 and status = 'pending' and not parked
      and (leased_until <= scheduled_at or leased_until > now() + ${JOB_LEASE})
    returning (extract(epoch from leased_until) * 1000)::float8 as "leasedUntilMs"`,
};

/**
 * Only a lease that is still the one that was read: when it had expired, the sweeper may have taken the row meanwhile, and
 * its job may be sending the delivery.
 */
const EXTEND_LATE_LEASES: Statement = {
  name: 'extend_late_leases',
  text: `
    update webhook_service.deliveries d set leased_until = now() + ${JOB_LEASE}
    from unnest($1::uuid[], $2::float8[]) as read (id, leased_until_ms)
    where d.id = read.id and d.id between $3 and $4 and d.status = 'pending'
      and d.leased_until = to_timestamp(read.leased_until_ms / 1000)::timestamptz(3)
    returning d.id, (extract(epoch from d.leased_until) * 1000)::float8 as "leasedUntilMs"`,
};

const EXTEND_LEASES: Statement = {
  name: 'extend_leases',
  text: `
    update webhook_service.deliveries set leased_until = greatest(leased_until, now() + ${JOB_LEASE})
    where id = any($1::uuid[]) and id between $2 and $3 and status = 'pending'`,
};

const LAST_SUCCESS: Statement = {
  name: 'last_success',
  text: `
    select completed_at as "completedAt" from webhook_service.deliveries
    where webhook_id = $1 and status = 'succeeded' and trigger <> 'test'
    order by id desc limit 1`,
};

/** Locks rows in the order of their ids, as writing outcomes does, so that the two never wait for each other in a circle. */
const CANCEL_PENDING: Statement = {
  name: 'cancel_pending_deliveries',
  text: `
    with pending as (
      select id from webhook_service.deliveries
      where webhook_id = $1 and status = 'pending' and trigger <> 'test'
      order by id for update
    )
    update webhook_service.deliveries d
    set status = 'canceled', error_code = $2, error_message = $3, completed_at = now()
    from pending where d.id = pending.id and d.webhook_id = $1 and d.status = 'pending'`,
};

/** The columns of the webhook are null when it was deleted. */
type DueRow = Omit<DueDelivery, 'webhook'> & Omit<DueWebhook, 'url'> & { url: string | null };

/** The statements of the hot path. Each of them works on many rows at once. */
@Injectable()
export class DeliveriesRepository {
  constructor(
    private readonly statements: StatementsService,
    private readonly clock: ClockService,
  ) {}

  /** Answers one entry for each id, in order; null where there is no such row any more. */
  async loadDue(ids: readonly string[]): Promise<(DueDelivery | null)[]> {
    const rows = await this.statements.run<DueRow>(LOAD_DUE, [ids, ...idBounds(ids)]);
    const byId = new Map(rows.map((row) => [row.id, toDue(row)]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  /**
   * Writes outcomes and inserts the next attempts, in one statement. Answers what was written, by the delivery's id. A row
   * that is no longer pending stays as it is, except that an attempt that was made leaves its outcome on a row that was
   * canceled meanwhile.
   */
  async record(outcomes: readonly Outcome[]): Promise<Map<string, Written>> {
    const inOrder = [...outcomes].sort((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));
    const ids = inOrder.map(({ deliveryId }) => deliveryId);
    const values = inOrder.map((outcome) => columnsOf(outcome, () => this.clock.birth().id));
    const rows = await this.statements.run<Written & Record<string, unknown>>(RECORD, [
      JSON.stringify(values),
      ...idBounds(ids),
    ]);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Gives the rows to the sweeper: their leases end with their due times. */
  async releaseLeases(ids: readonly string[]): Promise<void> {
    await this.statements.run(RELEASE_LEASES, [ids, ...idBounds(ids)]);
  }

  /** Takes the lease back for the job that has this delivery's id. Answers its new end, or null when it is held elsewhere. */
  async reclaimLease(id: string): Promise<number | null> {
    const [row] = await this.statements.run<{ leasedUntilMs: number }>(RECLAIM_LEASE, [id]);
    return row?.leasedUntilMs ?? null;
  }

  /** Extends leases that end soon, where they are still those that were read. Answers the new end of each, or null. */
  async extendLateLeases(due: readonly DueDelivery[]): Promise<(number | null)[]> {
    const ids = due.map(({ id }) => id);
    const leases = due.map(({ leasedUntilMs }) => leasedUntilMs);
    const rows = await this.statements.run<{ id: string; leasedUntilMs: number }>(EXTEND_LATE_LEASES, [
      ids,
      leases,
      ...idBounds(ids),
    ]);
    const byId = new Map(rows.map((row) => [row.id, row.leasedUntilMs]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  /** Keeps the sweeper away from rows whose attempts take long. */
  async extendLeases(ids: readonly string[]): Promise<void> {
    await this.statements.run(EXTEND_LEASES, [ids, ...idBounds(ids)]);
  }

  /** When a delivery to this webhook last succeeded, tests apart; null when none is kept. */
  async lastSuccessAt(webhookId: string): Promise<Date | null> {
    const [newest] = await this.statements.run<{ completedAt: Date }>(LAST_SUCCESS, [webhookId]);
    return newest?.completedAt ?? null;
  }

  /** Cancels the pending deliveries of a webhook, tests apart, in the transaction of `manager`. */
  async cancelPending(manager: EntityManager, webhookId: string, { code, message }: DeliveryError): Promise<void> {
    await manager.query(CANCEL_PENDING.text, [webhookId, code, message]);
  }
}

function toDue({ url, active, sealedSecret, sealedPreviousSecret, ...row }: DueRow): DueDelivery {
  return { ...row, webhook: url === null ? null : { url, active, sealedSecret, sealedPreviousSecret } };
}
