import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { sharedStatement } from '../../infrastructure/concurrency/batcher';
import { ClockService } from '../../infrastructure/database/clock.service';
import { BEFORE_ALL_IDS, idBounds } from '../../infrastructure/database/id-time';
import { type Statement, StatementsService, statement } from '../../infrastructure/database/statements.service';
import type { FirstAttempt, Outcome, Written } from './attempt';
import { deferredLease, insertedLease } from './lease';
import type { DeliveryError } from './delivery-error';
import { boundsFrom, freeEvents, isAmong, isOneOf, isPending } from './found-by-id';
import { durationClassOf } from '../../webhooks/stats/duration-class';

/**
 * SQL that counts attempts in the statement that writes their outcomes, as a data-modifying CTE, so that the counts
 * always equal the log, even after a crash. It only appends, so no statement waits for it; `StatsRepository.rollUp`
 * sums up later. `rows` is a query of `webhook_id, user_id, status, error_code, response_status, duration_ms, at,
 * count` that must exclude tests and pending rows.
 */
const countAttempts = (rows: string): string => `
  insert into webhook_service.recent_attempts (webhook_id, user_id, status, error_code, duration_class, at, count)
  select webhook_id, user_id, status, coalesce(error_code, ''),
         case when response_status is null then 0 else ${durationClassOf('duration_ms')} end, at, count
  from (${rows}) as r`;

type WrittenRow = Written & { busy: boolean; stopped: boolean } & Record<string, unknown>;

/** The row of a first attempt that is about to be inserted. */
export interface FirstRow {
  first: FirstAttempt;
  /** Null for a pending row. */
  outcome: Outcome | null;
  /** True for a deferred row, which waits for a worker to dispatch it. */
  deferred: boolean;
}

/** The columns of an outcome as JSON; see `columnsOf`. */
const OUTCOME_COLUMNS = `
         id uuid, status text, error_code text, error_message text, url text, attempted_at timestamptz, duration_ms int,
         request_headers json, format text, request_body text, response_status int, response_headers json, response_body text,
         response_body_truncated boolean, next_id uuid, delay_ms float8`;

/**
 * Locks the webhooks of failed attempts that will be retried: a pending next attempt must not appear after its webhook was
 * disabled, because nothing would cancel it. Skips a webhook that is being changed, because waiting would delay the other rows:
 * its rows are `busy` and stay unchanged, and the caller retries.
 */
const lockRetried = (rows: string): string => `
      select id, active from webhook_service.webhooks
      where id = any(array(select webhook_id from ${rows}))
      for share skip locked`;

/** SQL: whether the webhook of a row exists, and fulfills a condition. */
const isKnown = (row: string, and = 'true'): string =>
  `exists (select from webhook_service.webhooks w where w.id = ${row}.webhook_id and ${and})`;

/** The end of both statements: inserts next attempts, counts the attempts, and returns the written rows. */
const retryCountReturn = (counted: string): string => `next as (
      insert into webhook_service.deliveries
        (id, webhook_id, user_id, event_id, event, subject, url, attempt, trigger, status, scheduled_at, leased_until)
      select o.next_id, d.webhook_id, d.user_id, d.event_id, d.event, d.subject, d.url, d.attempt + 1, d.trigger, 'pending',
             d.next_attempt_at, ${insertedLease('d.url', 'd.next_attempt_at')}
      from done d join checked o on o.id = d.id where d.next_attempt_at is not null
    ), counted as (${countAttempts(counted)})
    select j.id, j.busy, j.stopped, d.status,
           case when d.next_attempt_at is not null then j.next_id end as "nextId",
           case when d.next_attempt_at is not null then j.delay_ms end as "nextInMs",
           (select consecutive_failures from webhook_service.webhooks w where w.id = d.webhook_id) as "consecutiveFailures"
    from checked j left join done d on d.id = j.id`;

/** Whether a row `o` is inserted to wait for a consumer or a rate: nothing may claim it for days. */
const MAY_WAIT = `o.status = 'pending' and (o.url is null or o.parked)`;
const waitsAt = (webhook: string): string => `(${webhook}.url is null or ${webhook}.max_per_second is not null)`;

/** The rows that `INSERT` has written. */
const INSERTED = `
  select webhook_id, user_id, status, error_code, response_status, duration_ms, now() as at, 1 as count
  from done where status <> 'pending'`;

/**
 * Inserts first attempts with their outcomes or as pending rows, and the next attempts of failed ones. Marks events that have no
 * other delivery as fanned out. Rows that may wait for days are `stopped`, and not inserted, when their webhook was disabled or
 * deleted since it was read: nothing would cancel them. Who stops a webhook locks it for update first.
 */
const INSERT = statement('insert_first_attempts')`
    with outcome as (
      select * from json_to_recordset($1::json) as o
        (${OUTCOME_COLUMNS}, webhook_id uuid, user_id text, event_id uuid, event text, subject text, completes_event boolean,
         parked boolean, scheduled_at timestamptz)
    ), retried as (
      ${lockRetried('outcome where next_id is not null')}
    ), waited as (
      select id, active from webhook_service.webhooks w
      where id = any(array(select webhook_id from outcome o where ${MAY_WAIT})) and ${waitsAt('w')}
      for key share skip locked
    ), checked as (
      select o.*, coalesce(r.active, false) as is_retried,
             case when o.next_id is not null then r.id is null and ${isKnown('o')}
               when ${MAY_WAIT} then h.id is null and ${isKnown('o', waitsAt('w'))} else false end as busy,
             case when ${MAY_WAIT} then coalesce(not h.active, not ${isKnown('o')}) else false end as stopped
      from outcome o left join retried r on r.id = o.webhook_id left join waited h on h.id = o.webhook_id
    ), fresh as (
      select * from checked where not busy and not stopped
    ), completed as materialized (
      ${freeEvents('array(select event_id from fresh where completes_event)')}
    ), complete as (
      update webhook_service.events set fanned_out_at = now()
      where ${isOneOf('events', 'array(select id from completed)')}
    ), done as (
      insert into webhook_service.deliveries
        (id, webhook_id, user_id, event_id, event, subject, url, parked, claimed, attempt, trigger, status, scheduled_at, leased_until,
         error_code, error_message, attempted_at, completed_at, duration_ms, request_headers, format, request_body,
         response_status, response_headers, response_body, response_body_truncated, next_attempt_at)
      select id, webhook_id, user_id, event_id, event, subject, url, parked, not parked and url is not null, 1, 'event', status, scheduled_at,
             case when parked then ${deferredLease('fresh')} else ${insertedLease('url', 'now()')} end,
             error_code, error_message, case when attempted_at is not null then greatest(attempted_at, scheduled_at) end,
             case when status <> 'pending' then
               greatest(now(), attempted_at + duration_ms * interval '1 millisecond', scheduled_at) end,
             duration_ms, request_headers, format, request_body, response_status, response_headers, response_body,
             response_body_truncated, case when is_retried then now() + delay_ms * interval '1 millisecond' end
      from fresh
      on conflict (id) do nothing
      returning id, webhook_id, user_id, event_id, event, subject, url, attempt, trigger, status, error_code,
                response_status, duration_ms, next_attempt_at
    ), ${retryCountReturn(INSERTED)}`;

/** Matches a row `d` that accepts an outcome `o`: it is pending, or was canceled while the request was being made. */
const IS_OPEN_ROW = `(${isPending('d')}
  or (d.status = 'canceled' and d.attempted_at is null and o.attempted_at is not null))`;

/** Joins as text: a join by id would select partitions for each row, also after the first lock; see `isAmong`. */
const IS_ROW_OF = 'd.id::text = o.id::text';

/** The rows that `UPDATE` has written. Subtracts each row that was counted as canceled although its attempt was made. */
const UPDATED = `
  select webhook_id, user_id, status, error_code, response_status, duration_ms, now() as at, 1 as count
  from done where trigger <> 'test'
  union all
  select d.webhook_id, d.user_id, f.status_before, f.error_before, null, null, f.completed_before, -1
  from done d join free f on f.id = d.id where f.status_before = 'canceled'`;

/** Updates pending rows with their outcomes. A row that is being canceled is `busy`, too. */
const UPDATE = statement('record_attempts')`
    with outcome as (
      select * from json_to_recordset($1::json) as o
        (${OUTCOME_COLUMNS})
    ), free as (
      select d.id, d.webhook_id, o.delay_ms is not null as may_retry,
             d.status as status_before, d.error_code as error_before, d.completed_at as completed_before
      from webhook_service.deliveries d join outcome o on ${IS_ROW_OF}
      where ${isOneOf('d', '$4::uuid[]')} and ${IS_OPEN_ROW}
      for update of d skip locked
    ), retried as (
      ${lockRetried('free where may_retry')}
    ), checked as (
      select o.*, coalesce(r.active, false) as is_retried,
             f.id is null or (f.may_retry and r.id is null and ${isKnown('f')}) as busy, false as stopped
      from outcome o left join free f on f.id = o.id left join retried r on r.id = f.webhook_id
      where f.id is not null
        or o.id in (select d.id from webhook_service.deliveries d join outcome o on ${IS_ROW_OF}
                    where ${isOneOf('d', '$4::uuid[]')} and ${IS_OPEN_ROW})
    ), done as (
      update webhook_service.deliveries d set
        status = o.status, changed_in = pg_current_xact_id(), error_code = o.error_code, error_message = o.error_message, url = coalesce(o.url, d.url),
        -- Processes know PostgreSQL's time only to within milliseconds: keep the times within a row in order.
        attempted_at = case when o.attempted_at is not null then greatest(o.attempted_at, d.scheduled_at) end,
        completed_at = greatest(now(), o.attempted_at + o.duration_ms * interval '1 millisecond', d.scheduled_at),
        duration_ms = o.duration_ms,
        request_headers = coalesce(o.request_headers, d.request_headers), format = coalesce(o.format, d.format),
        request_body = coalesce(o.request_body, d.request_body), response_status = o.response_status,
        response_headers = o.response_headers, response_body = o.response_body,
        response_body_truncated = o.response_body_truncated,
        next_attempt_at = case when d.status = 'pending' and o.is_retried then now() + o.delay_ms * interval '1 millisecond' end
      from checked o
      where ${IS_ROW_OF} and ${isOneOf('d', '$4::uuid[]')} and not o.busy
      returning d.*
    ), ${retryCountReturn(UPDATED)}`;

const CANCELED = `
  select webhook_id, user_id, status, error_code, null::int as response_status, null::int as duration_ms,
         completed_at as at, count(*) as count from canceled group by 1, 2, 3, 4, 7`;

/**
 * Cancels pending rows with the error $1 and the message $2. Locks rows in id order, as writing outcomes does, so that the two
 * cannot deadlock.
 */
const cancel = (where: string, lock: string): string => {
  const find = `
      select id from webhook_service.deliveries
      where ${where} and status = 'pending' and trigger <> 'test'
      order by id`;
  return `
    with bounds as materialized (${boundsFrom(`${find} limit 1`)}), pending as materialized (${find} ${lock}), canceled as (
      update webhook_service.deliveries d
      set status = 'canceled', changed_in = pg_current_xact_id(), error_code = $1, error_message = $2, completed_at = now()
      where ${isAmong('d', 'pending', 'bounds')} and d.status = 'pending'
      returning d.webhook_id, d.user_id, d.status, d.error_code, d.completed_at
    ), counted as (${countAttempts(CANCELED)})
    select count(*)::int as count from canceled`;
};

/** In the order of an index of pending rows, so that it reads no more than it returns. Locks nothing. */
const PENDING_OF = `
  select id, user_id as "userId", event_id as "eventId" from webhook_service.deliveries
  where webhook_id between $1 and $1 and status = 'pending' and trigger <> 'test' and event_id > $2
  order by webhook_id, event_id limit $3`;

/** Cancels rows that were found before, in the same order as `cancel`. */
const cancelFound = (lock: string): string => `
  with free as (
    select id from webhook_service.deliveries d
    where ${isOneOf('d', '$1::uuid[]')} and ${isPending('d')}
    order by id ${lock}
  ), canceled as (
    update webhook_service.deliveries d
    set status = 'canceled', changed_in = pg_current_xact_id(), error_code = $4, error_message = $5,
        completed_at = coalesce($6::timestamptz, now())
    where ${isOneOf('d', 'array(select id from free)')}
    returning d.webhook_id, d.user_id, d.status, d.error_code, d.completed_at
  ), counted as (${countAttempts(CANCELED)})
  select count(*)::int as count from canceled`;

const CANCEL_ALL_FOUND = cancelFound('for update');
const CANCEL_FREE_FOUND = cancelFound('for update skip locked');

/** Looks at a page of the pending rows, in the order of their index. The last one is where the next page begins. */
const EXPIRED = `
  with page as materialized (
    select id, webhook_id, event_id, trigger from webhook_service.deliveries
    where status = 'pending' and (webhook_id, event_id) > ($1, $2) order by webhook_id, event_id limit $3
  )
  select array(select id from page where event_id < $4 and trigger <> 'test') as ids, last.*
  from (
    select webhook_id as "webhookId", event_id as "eventId" from page order by webhook_id desc, event_id desc limit 1
  ) as last`;

/** Leaves rows whose attempt is being made: it ends within seconds. */
const CANCEL_EXPIRED: Statement = {
  name: 'cancel_expired_deliveries',
  text: cancel('id = any($3::uuid[]) and not claimed', 'for update skip locked'),
};

const CANCEL_LOST: Statement = {
  name: 'cancel_deliveries_of_lost_events',
  text: cancel('id = any($3::uuid[])', 'for update skip locked'),
};

/** The event was past retention, or a failover has lost it while a process still had the outcome of its delivery. */
const LOST: DeliveryError = {
  code: 'expired',
  message: 'Its event is no longer in the database, so this delivery was not sent.',
};

interface Expired {
  ids: string[];
  webhookId: string;
  eventId: string;
}

export interface PendingRow {
  id: string;
  userId: string;
  eventId: string;
}

/** Deletes rows; the caller has found them, and runs it in its own transaction. */
export const DELETE_DELIVERIES = `delete from webhook_service.deliveries where ${isOneOf('deliveries', '$1::uuid[]')}`;

/** Settles rows: writes the outcomes of attempts, and cancels pending ones. Concurrent outcomes share a statement. */
@Injectable()
export class OutcomesRepository {
  /**
   * Writes an outcome into its row, and inserts the next attempt. Returns null when the row was already final; it stays
   * unchanged, except that a row canceled during its attempt receives the outcome. Returns 'busy' when the row or its webhook is
   * being changed at this moment; retry then.
   */
  readonly update = sharedStatement<Outcome, Written | 'busy'>(
    ({ deliveryId }) => deliveryId,
    async (outcomes) => {
      const inOrder = [...outcomes].sort((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));
      const ids = inOrder.map(({ deliveryId }) => deliveryId);
      const values = inOrder.map((outcome) => columnsOf(outcome, () => this.clock.newId().id));
      const rows = await this.statements.run<WrittenRow>(UPDATE, [JSON.stringify(values), ...idBounds(ids), ids]);
      return rows.map((row) => [row.id, row.busy ? ('busy' as const) : row] as const);
    },
  );

  /**
   * Inserts a first attempt. Returns null when it already has a row, which stays unchanged; 'busy' as for `update`; 'stopped'
   * when it would wait at a webhook that is disabled or deleted by now.
   */
  readonly insert = sharedStatement<FirstRow, Written | 'busy' | 'stopped' | null>(
    ({ first }) => first.id,
    async (rows) => {
      const values = rows.map((row) => firstColumnsOf(row, () => this.clock.newId().id));
      const inserted = await this.statements.run<WrittenRow>(INSERT, [
        JSON.stringify(values.sort((a, b) => (a.id < b.id ? -1 : 1))),
        ...idBounds(rows.map(({ first }) => first.eventId)),
      ]);
      const resultOf = (row: WrittenRow) => (row.busy ? 'busy' : row.stopped ? 'stopped' : row.status && row);
      return inserted.map((row) => [row.id, resultOf(row)] as const);
    },
  );

  constructor(
    private readonly statements: StatementsService,
    private readonly clock: ClockService,
  ) {}

  /** Returns the pending deliveries of a webhook after an event, except test deliveries; null: no limit. */
  pendingOf(
    manager: EntityManager,
    webhookId: string,
    afterEventId: string,
    limit: number | null,
  ): Promise<PendingRow[]> {
    return manager.query<PendingRow[]>(PENDING_OF, [webhookId, afterEventId, limit]);
  }

  /**
   * Cancels those of the deliveries that are still pending, and returns their number.
   * @param stoppedAt null: now; waits for locked rows then, and otherwise skips them
   */
  async cancelStopped(
    manager: EntityManager,
    rows: readonly PendingRow[],
    { code, message }: DeliveryError,
    stoppedAt: Date | null = null,
  ): Promise<number> {
    const ids = rows.map(({ id }) => id);
    const cancelFree = stoppedAt ? CANCEL_FREE_FOUND : CANCEL_ALL_FOUND;
    const values = [ids, ...idBounds(ids), code, message, stoppedAt];
    const [row] = await manager.query<{ count: number }[]>(cancelFree, values);
    return row?.count ?? 0;
  }

  async cancelLost(ids: readonly string[]): Promise<void> {
    await this.statements.run(CANCEL_LOST, [LOST.code, LOST.message, ids]);
  }

  /** Cancels the pending deliveries of events with a lower id than `firstKeptId`, a page at a time. Returns their number. */
  async cancelExpired(firstKeptId: string, { code, message }: DeliveryError, pageSize: number): Promise<number> {
    let total = 0;
    for (let last: Expired | undefined = { ids: [], webhookId: BEFORE_ALL_IDS, eventId: BEFORE_ALL_IDS }; last;) {
      const values: unknown[] = [last.webhookId, last.eventId, pageSize, firstKeptId];
      [last] = await this.statements.runByIndex<Expired>(EXPIRED, values);
      if (!last?.ids.length) continue;
      const [row] = await this.statements.run<{ count: number }>(CANCEL_EXPIRED, [code, message, last.ids]);
      total += row?.count ?? 0;
    }
    return total;
  }
}

/**
 * Returns the columns of one first attempt for `INSERT`. Avoids a spread into a literal: V8 would create a hidden class for each
 * row, in its old generation.
 */
function firstColumnsOf({ first, outcome, deferred }: FirstRow, newId: () => string): ReturnType<typeof columnsOf> {
  return Object.assign(outcome ? columnsOf(outcome, newId) : { id: first.id, status: 'pending' }, {
    url: outcome?.exchange?.url ?? first.url ?? undefined,
    webhook_id: first.webhookId,
    user_id: first.userId,
    event_id: first.eventId,
    event: first.event,
    subject: first.subject ?? undefined,
    completes_event: first.completesEvent,
    parked: deferred,
    scheduled_at: first.scheduledAt,
  });
}

/**
 * Returns the columns that an outcome sets in its row, as JSON for `json_to_recordset`. Undefined values are omitted and become
 * null in the row.
 * @param newId returns the id of the next attempt, when one follows
 */
function columnsOf(
  { deliveryId, status, error, exchange, retryInMs }: Outcome,
  newId: () => string,
): Record<string, unknown> & { id: string } {
  const response = exchange?.response;
  return {
    id: deliveryId,
    status,
    error_code: error?.code,
    error_message: error?.message,
    url: exchange?.url ?? undefined,
    attempted_at: exchange?.attemptedAt,
    duration_ms: exchange?.durationMs,
    request_headers: exchange?.requestHeaders ?? undefined,
    format: exchange?.formatted?.format,
    request_body: exchange?.formatted?.body,
    response_status: response?.status,
    response_headers: response?.headers,
    // PostgreSQL's type text cannot store NUL.
    response_body: response?.body.replaceAll('\0', '\ufffd'),
    response_body_truncated: response?.bodyTruncated,
    ...(retryInMs !== null && { next_id: newId(), delay_ms: retryInMs }),
  };
}
