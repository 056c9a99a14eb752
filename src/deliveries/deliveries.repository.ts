import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ClockService } from '../plumbing/database/clock.service';
import { idBounds } from '../plumbing/database/id-bounds';
import { type Statement, StatementsService } from '../plumbing/database/statements.service';
import type { Outcome, Written } from './attempt';
import type { DeliveryError } from './delivery-error';
import { JOB_LEASE } from './lease';
import { columnsOf } from './outcome-columns';

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
    where id = any($1::uuid[]) and id between $2 and $3 and status = 'pending' and not parked and not claimed`,
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

/** The statements of the hot path. Each of them works on many rows at once. */
@Injectable()
export class DeliveriesRepository {
  constructor(
    private readonly statements: StatementsService,
    private readonly clock: ClockService,
  ) {}

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

  /** Gives rows that no worker has claimed to the sweeper: their leases end with their due times. */
  async releaseLeases(ids: readonly string[]): Promise<void> {
    await this.statements.run(RELEASE_LEASES, [ids, ...idBounds(ids)]);
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
