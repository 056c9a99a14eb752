import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ClockService } from '../plumbing/database/clock.service';
import { idBounds } from '../plumbing/database/id-bounds';
import { type Statement, StatementsService } from '../plumbing/database/statements.service';
import type { Outcome, Written } from './attempt';
import type { DeliveryError } from './delivery-error';
import { JOB_LEASE } from './lease';
import { columnsOf } from './outcome-columns';
import { countAttempts } from '../webhooks/stats/counting';
import { isAmong, isOneOf, isPending } from './found-by-id';

/** An outcome `o` is written into a row `d` that is pending, or was canceled while the request was made. */
const RECORDABLE = `(${isPending('d')}
  or (d.status = 'canceled' and d.attempted_at is null and o.attempted_at is not null))`;

/** What `RECORD` has written; and less by one what was canceled before, when its attempt was made after all. */
const COUNTED = `
  select webhook_id, user_id, status, error_code, response_status, duration_ms, now() as at, 1 as count
  from done where trigger <> 'test'
  union all
  select d.webhook_id, d.user_id, f.status_before, f.error_before, null, null, f.completed_before, -1
  from done d join free f on f.id = d.id where f.status_before = 'canceled'`;

/**
 * Nobody waits for a lock here, because the outcomes of others would wait too: a row that is being canceled, and one whose
 * webhook is being changed when a next attempt is to follow, is `busy` and stays as it is. A pending next attempt must not
 * appear after its webhook was disabled: nobody would cancel it. So the webhook is looked at under a share lock.
 */
const RECORD: Statement = {
  name: 'record_attempts',
  text: `
    with outcome as (
      select * from json_to_recordset($1::json) as o
        (id uuid, status text, error_code text, error_message text, url text, attempted_at timestamptz, duration_ms int,
         request_headers json, response_status int, response_headers json, response_body text,
         response_body_truncated boolean, next_id uuid, delay_ms float8)
    ), free as (
      select d.id, d.webhook_id, o.delay_ms is not null as may_retry,
             d.status as status_before, d.error_code as error_before, d.completed_at as completed_before
      from webhook_service.deliveries d join outcome o on d.id = o.id
      where ${isOneOf('d', '$4::uuid[]')} and ${RECORDABLE}
      for update of d skip locked
    ), retried as (
      select id, active from webhook_service.webhooks
      where id = any(array(select webhook_id from free where may_retry))
      for share skip locked
    ), judged as (
      select o.*, coalesce(r.active, false) as is_retried,
             f.id is null or (f.may_retry and r.id is null
               and exists (select from webhook_service.webhooks w where w.id = f.webhook_id)) as busy
      from outcome o left join free f on f.id = o.id left join retried r on r.id = f.webhook_id
      where f.id is not null
        or (select d.id from webhook_service.deliveries d
            where d.id = o.id and d.id between $2 and $3 and ${RECORDABLE}) is not null
    ), done as (
      update webhook_service.deliveries d set
        status = o.status, changed_in = pg_current_xact_id(), error_code = o.error_code, error_message = o.error_message, url = coalesce(o.url, d.url),
        -- A process measures PostgreSQL's clock to within milliseconds: the order within a row is kept exactly.
        attempted_at = case when o.attempted_at is not null then greatest(o.attempted_at, d.scheduled_at) end,
        completed_at = greatest(now(), o.attempted_at + o.duration_ms * interval '1 millisecond', d.scheduled_at),
        duration_ms = o.duration_ms,
        request_headers = o.request_headers, response_status = o.response_status,
        response_headers = o.response_headers, response_body = o.response_body,
        response_body_truncated = o.response_body_truncated,
        next_attempt_at = case when d.status = 'pending' and o.is_retried then now() + o.delay_ms * interval '1 millisecond' end
      from judged o
      where d.id = o.id and ${isOneOf('d', '$4::uuid[]')} and not o.busy
      returning d.*, o.next_id, o.delay_ms
    ), next as (
      insert into webhook_service.deliveries
        (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until)
      select next_id, webhook_id, user_id, event_id, event, url, attempt + 1, trigger, 'pending', next_attempt_at,
             next_attempt_at + ${JOB_LEASE}
      from done where next_attempt_at is not null
    ), counted as (${countAttempts(COUNTED)})
    select j.id, j.busy, d.status,
           case when d.next_attempt_at is not null then d.next_id end as "nextId",
           case when d.next_attempt_at is not null then d.delay_ms end as "nextInMs",
           (select consecutive_failures from webhook_service.webhooks w where w.id = d.webhook_id) as "consecutiveFailures"
    from judged j left join done d on d.id = j.id`,
};

const RELEASE_LEASES: Statement = {
  name: 'release_leases',
  text: `
    with free as (
      select id from webhook_service.deliveries
      where ${isOneOf('deliveries', '$1::uuid[]')} and ${isPending('deliveries')} and not parked and not claimed
      for update skip locked
    )
    update webhook_service.deliveries d set leased_until = greatest(d.scheduled_at, now())
    where ${isAmong('d', 'free')}`,
};

const EXTEND_LEASES: Statement = {
  name: 'extend_leases',
  text: `
    with free as (
      select id from webhook_service.deliveries
      where ${isOneOf('deliveries', '$1::uuid[]')} and ${isPending('deliveries')}
      for update skip locked
    )
    update webhook_service.deliveries d set leased_until = greatest(d.leased_until, now() + ${JOB_LEASE})
    where ${isAmong('d', 'free')}`,
};

const CANCELED = `
  select webhook_id, user_id, status, error_code, null::int as response_status, null::int as duration_ms, now() as at,
         count(*) as count
  from canceled group by 1, 2, 3, 4`;

/** Locks rows in the order of their ids, as writing outcomes does, so that the two never wait for each other in a circle. */
const CANCEL_PENDING: Statement = {
  name: 'cancel_pending_deliveries',
  text: `
    with pending as (
      select id from webhook_service.deliveries
      where webhook_id = $1 and status = 'pending' and trigger <> 'test'
      order by id for update
    ), canceled as (
      update webhook_service.deliveries d
      set status = 'canceled', changed_in = pg_current_xact_id(), error_code = $2, error_message = $3, completed_at = now()
      from pending where d.id = pending.id and d.webhook_id = $1 and d.status = 'pending'
      returning d.webhook_id, d.user_id, d.status, d.error_code
    )
    ${countAttempts(CANCELED)}`,
};

/** The statements of the hot path. Each of them works on many rows at once. */
@Injectable()
export class DeliveriesRepository {
  constructor(
    private readonly statements: StatementsService,
    private readonly clock: ClockService,
  ) {}

  /**
   * Writes outcomes and inserts the next attempts, in one statement. Answers what was written, by the delivery's id; 'busy'
   * where the row or its webhook is being changed at this moment, and it is to be tried again. A row that is no longer
   * pending stays as it is, except that an attempt that was made leaves its outcome on a row that was canceled meanwhile.
   */
  async record(outcomes: readonly Outcome[]): Promise<Map<string, Written | 'busy'>> {
    const inOrder = [...outcomes].sort((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));
    const ids = inOrder.map(({ deliveryId }) => deliveryId);
    const values = inOrder.map((outcome) => columnsOf(outcome, () => this.clock.birth().id));
    const rows = await this.statements.run<Written & { busy: boolean } & Record<string, unknown>>(RECORD, [
      JSON.stringify(values),
      ...idBounds(ids),
      ids,
    ]);
    return new Map(rows.map((row) => [row.id, row.busy ? ('busy' as const) : row]));
  }

  /** Gives rows that no worker has claimed to the sweeper: their leases end with their due times. */
  async releaseLeases(ids: readonly string[]): Promise<void> {
    await this.statements.run(RELEASE_LEASES, [ids, ...idBounds(ids)]);
  }

  /** Keeps the sweeper away from rows whose attempts take long. */
  async extendLeases(ids: readonly string[]): Promise<void> {
    await this.statements.run(EXTEND_LEASES, [ids, ...idBounds(ids)]);
  }

  /** Cancels the pending deliveries of a webhook, tests apart, in the transaction of `manager`. */
  async cancelPending(manager: EntityManager, webhookId: string, { code, message }: DeliveryError): Promise<void> {
    await manager.query(CANCEL_PENDING.text, [webhookId, code, message]);
  }
}
