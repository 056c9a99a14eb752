import { Injectable } from '@nestjs/common';
import { ClockService } from '../../plumbing/database/clock.service';
import { idBounds } from '../../plumbing/database/id-bounds';
import { type Statement, StatementsService } from '../../plumbing/database/statements.service';
import type { DueWebhook, FirstAttempt, Outcome, Written } from '../attempt';
import { JOB_LEASE, PARKED_LEASE } from '../lease';
import { columnsOf } from '../outcome-columns';
import { countAttempts } from '../../webhooks/stats/counting';
import { IS_OPEN, isOneOf } from '../found-by-id';

/** The row of a first attempt, about to be inserted. */
export interface FirstRow {
  first: FirstAttempt;
  /** Null: a pending row. */
  outcome: Outcome | null;
  /** A pending row that waits for a worker to admit it. */
  parked: boolean;
}

const COUNTED = `
  select webhook_id, user_id, status, error_code, response_status, duration_ms, now() as at, 1 as count
  from done where status <> 'pending'`;

/**
 * Inserts first attempts with their outcomes, or as pending rows, and the next attempts of those that failed. Marks the
 * events of which this is the only delivery as fanned out.
 *
 * A pending next attempt must not appear after its webhook was disabled: nobody would cancel it. So the webhook is looked
 * at under a share lock. A webhook that somebody is changing at this moment is not waited for, because the other rows
 * would wait too: its row is `busy` and not inserted.
 */
const INSERT_FIRST: Statement = {
  name: 'insert_first_attempts',
  text: `
    with outcome as (
      select * from json_to_recordset($1::json) as o
        (id uuid, webhook_id uuid, user_id text, event_id uuid, event text, is_only boolean, parked boolean,
         scheduled_at timestamptz, status text, error_code text, error_message text, url text, attempted_at timestamptz,
         duration_ms int, request_headers json, response_status int, response_headers json, response_body text,
         response_body_truncated boolean, next_id uuid, delay_ms float8)
    ), retried as (
      select id, active from webhook_service.webhooks
      where id = any(array(select webhook_id from outcome where next_id is not null))
      for share skip locked
    ), judged as (
      select o.*, coalesce(r.active, false) as is_retried,
             o.next_id is not null and r.id is null
               and exists (select from webhook_service.webhooks w where w.id = o.webhook_id) as busy
      from outcome o left join retried r on r.id = o.webhook_id
    ), complete as (
      update webhook_service.events set fanned_out_at = now()
      where ${isOneOf('events', 'array(select event_id from judged where is_only and not busy)')}
        and ${IS_OPEN}
    ), done as (
      insert into webhook_service.deliveries
        (id, webhook_id, user_id, event_id, event, url, parked, claimed, attempt, trigger, status, scheduled_at, leased_until,
         error_code, error_message, attempted_at, completed_at, duration_ms, request_headers, response_status,
         response_headers, response_body, response_body_truncated, next_attempt_at)
      select id, webhook_id, user_id, event_id, event, url, parked, not parked, 1, 'event', status, scheduled_at,
             now() + case when parked then ${PARKED_LEASE} else ${JOB_LEASE} end,
             error_code, error_message, case when attempted_at is not null then greatest(attempted_at, scheduled_at) end,
             case when status <> 'pending' then
               greatest(now(), attempted_at + duration_ms * interval '1 millisecond', scheduled_at) end,
             duration_ms, request_headers, response_status, response_headers, response_body, response_body_truncated,
             case when is_retried then now() + delay_ms * interval '1 millisecond' end
      from judged where not busy
      on conflict (id) do nothing
      returning id, webhook_id, user_id, event_id, event, url, status, error_code, response_status, duration_ms,
                next_attempt_at
    ), next as (
      insert into webhook_service.deliveries
        (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until)
      select o.next_id, d.webhook_id, d.user_id, d.event_id, d.event, d.url, 2, 'event', 'pending', d.next_attempt_at,
             d.next_attempt_at + ${JOB_LEASE}
      from done d join outcome o on o.id = d.id where d.next_attempt_at is not null
    ), counted as (${countAttempts(COUNTED)})
    select j.id, j.busy, d.status,
           case when d.next_attempt_at is not null then j.next_id end as "nextId",
           case when d.next_attempt_at is not null then j.delay_ms end as "nextInMs",
           (select consecutive_failures from webhook_service.webhooks w where w.id = d.webhook_id) as "consecutiveFailures"
    from judged j left join done d on d.id = j.id`,
};

const LOAD_WEBHOOKS: Statement = {
  name: 'load_webhooks_of_attempts',
  text: `
    select id, url, active, secret as "sealedSecret",
           case when previous_secret_expires_at > now() then previous_secret end as "sealedPreviousSecret"
    from webhook_service.webhooks where id = any($1::uuid[])`,
};

/** The statements of first attempts, which have no row yet. */
@Injectable()
export class FirstRowsRepository {
  constructor(
    private readonly statements: StatementsService,
    private readonly clock: ClockService,
  ) {}

  /**
   * Inserts first attempts. Answers for each, in order, what was written; null when it has a row already, which stays as it
   * is; 'busy' when its webhook is being changed at this moment, and it is to be tried again.
   */
  async insert(rows: readonly FirstRow[]): Promise<(Written | null | 'busy')[]> {
    const ids = rows.map(({ first }) => first.id);
    const values = rows.map((row) => firstColumnsOf(row, () => this.clock.birth().id));
    const inserted = await this.statements.run<Written & { busy: boolean } & Record<string, unknown>>(INSERT_FIRST, [
      JSON.stringify(values.sort((a, b) => (a.id < b.id ? -1 : 1))),
      ...idBounds(rows.map(({ first }) => first.eventId)),
    ]);
    const byId = new Map(inserted.map((row) => [row.id, row.busy ? ('busy' as const) : row.status && row]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  /** The webhooks of attempts as they are now; one entry for each id, in order, null where it was deleted. */
  async webhooks(ids: readonly string[]): Promise<(DueWebhook | null)[]> {
    const rows = await this.statements.run<DueWebhook & { id: string }>(LOAD_WEBHOOKS, [ids]);
    const byId = new Map(rows.map(({ id, ...webhook }) => [id, webhook]));
    return ids.map((id) => byId.get(id) ?? null);
  }
}

/**
 * What `INSERT_FIRST` reads of one first attempt. Not spread into a literal: V8 would make a hidden class for each row, in
 * its old generation.
 */
function firstColumnsOf({ first, outcome, parked }: FirstRow, newId: () => string): ReturnType<typeof columnsOf> {
  return Object.assign(outcome ? columnsOf(outcome, newId) : { id: first.id, status: 'pending' }, {
    url: outcome?.exchange?.url ?? first.url,
    webhook_id: first.webhookId,
    user_id: first.userId,
    event_id: first.eventId,
    event: first.event,
    is_only: first.isOnly,
    parked,
    scheduled_at: first.scheduledAt,
  });
}
