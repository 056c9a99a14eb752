import { Injectable } from '@nestjs/common';
import { isLocked } from '../../infrastructure/errors/database-error';
import { type Statement, StatementsService, statement } from '../../infrastructure/database/statements.service';
import type { AttemptCount } from './attempt-numbers';
import type { StepWindow } from './step-window';
import { HOUR_MS } from '../../infrastructure/config/durations';

export interface StepCount extends AttemptCount {
  webhookId: string;
  from: Date;
}

/** The last attempts to a webhook, excluding tests. Null if none is on record. */
export interface LastTimes {
  lastSuccessAt: Date | null;
  lastFailureAt: Date | null;
}

/** Current state of a webhook, excluding test deliveries. */
export interface Present extends LastTimes {
  /** Number of pending deliveries, counted up to 1,000. */
  pending: number;
  /** The earliest time at which one of these is due; null if none is pending. */
  nextDueAt: Date | null;
  /** The first failure after the last success; null if there is none among the last 1,000 failures. */
  failingSince: Date | null;
  /** Number of attempts of the last hour, accurate to five minutes. */
  succeededLastHour: number;
  failedLastHour: number;
}

type OfWebhook<Row> = Row & { webhookId: string };

const COUNTED = 'status, at, error_code, duration_class, count';

/** Counts of spans of $5 minutes from $2 to $3, and the attempts of the last seconds. */
const countsBy = (owner: 'webhook_id' | 'user_id', table: string) => `(
      select ${owner}, ${COUNTED} from webhook_service.${table} where minutes = $5
      union all
      select ${owner}, ${COUNTED} from webhook_service.recent_attempts
    ) as c
    where at >= $2 and at < $3 and status in ('succeeded', 'failed', 'canceled')`;

const STEP_COUNTS = `
  select date_bin($4 * interval '1 millisecond', at, timestamptz 'epoch') as "from", status,
         error_code as "errorCode", duration_class as "durationClass", sum(count)::int as count`;

/** Reads as much however many webhooks the user has or had. */
const COUNTS_OF_USER = statement('attempt_counts_of_user')`
    ${STEP_COUNTS} from ${countsBy('user_id', 'user_attempt_counts')} and user_id = $1
    group by 1, 2, 3, 4`;

const COUNTS_OF_WEBHOOKS = statement('attempt_counts_of_webhooks')`
    ${STEP_COUNTS}, webhook_id as "webhookId" from ${countsBy('webhook_id', 'attempt_counts')} and webhook_id = any($1::uuid[])
    group by 1, 2, 3, 4, webhook_id`;

/** Version 0.2 counted without `last_at`; for its rows the end of the five minutes is used instead. */
const lastAt = (status: string) => `
  greatest(recent.${status}, (
    select max(coalesce(last_at, least(at + interval '5 minutes', now()))) from (
      select last_at, at from webhook_service.attempt_counts c
      where c.webhook_id = w.id and c.minutes = 5 and c.status = '${status}'
      order by at desc fetch first row with ties) as newest))`;

const recentAttempts = (status: string) => `
  max(at) filter (where status = '${status}') as ${status},
  sum(count) filter (where status = '${status}' and at > now() - interval '1 hour') as ${status}_last_hour`;

const TIMES = `
  recent as (
    select webhook_id as id, ${recentAttempts('succeeded')}, ${recentAttempts('failed')}
    from webhook_service.recent_attempts where webhook_id = any($1::uuid[]) group by 1
  ), times as materialized (
    select w.id, ${lastAt('succeeded')} as succeeded, ${lastAt('failed')} as failed
    from unnest($1::uuid[]) as w (id) left join recent using (id)
  )`;
const TIMES_COLUMNS = `t.id as "webhookId", t.succeeded as "lastSuccessAt", t.failed as "lastFailureAt"`;

const LAST_TIMES = statement('last_attempts_of_webhooks')`with ${TIMES} select ${TIMES_COLUMNS} from times t`;

const lastHour = (status: string) => `
  coalesce(recent.${status}_last_hour, 0)::int + (
    select coalesce(sum(count), 0)::int from webhook_service.attempt_counts
    where webhook_id = t.id and minutes = 5 and status = '${status}' and at > now() - interval '1 hour')`;

const MOST_ROWS = 1000;

/** Its pending deliveries are being canceled; see deliveries/rows/stopping.ts. */
const IS_STOPPING = 'exists (select from webhook_service.stopping_webhooks s where s.webhook_id = t.id)';

/** The order is that of an index, and the range keeps its first column in it. */
const rowsOf = (columns: string, condition: string, order: string) => `
  select ${columns} from webhook_service.deliveries
  where webhook_id between t.id and t.id and ${condition} order by ${order} limit ${MOST_ROWS}`;

const PRESENT = `
    with ${TIMES}
    select ${TIMES_COLUMNS}, p.pending, p."nextDueAt",
           ${lastHour('succeeded')} as "succeededLastHour", ${lastHour('failed')} as "failedLastHour",
           case when t.failed > coalesce(t.succeeded, '-infinity') then (
             select case when count(*) < ${MOST_ROWS} or min(completed_at) <= t.succeeded
                    then min(completed_at) filter (where trigger <> 'test' and completed_at > coalesce(t.succeeded, '-infinity')) end
             from (${rowsOf('completed_at, trigger', "status = 'failed'", 'webhook_id desc, id desc')}) as failures
           ) end as "failingSince"
    from times t left join recent using (id) cross join lateral (
      select count(*)::int as pending, min(scheduled_at) as "nextDueAt"
      from (${rowsOf('scheduled_at', "status = 'pending' and trigger <> 'test'", 'webhook_id, event_id')}) as rows
      where not ${IS_STOPPING}
    ) as p`;

/** Maximum number of attempts that one statement sums up. */
const MOST_ATTEMPTS = 50_000;

/** Locks counts in order, so that two processes cannot deadlock. */
const ROLL_UP = statement('roll_attempts_up')`
    with recent as (
      delete from webhook_service.recent_attempts where ctid = any(array(
        select ctid from webhook_service.recent_attempts where webhook_id <> all($1::uuid[])
        limit ${MOST_ATTEMPTS} for update skip locked))
      returning *
    ), counted as (
      insert into webhook_service.attempt_counts as c
        (webhook_id, user_id, minutes, status, at, error_code, duration_class, count, last_at)
      select webhook_id, user_id, minutes, status, date_bin(minutes * interval '1 minute', recent.at, timestamptz 'epoch'),
             error_code, duration_class, sum(count), max(recent.at)
      from recent cross join unnest('{5,60}'::smallint[]) as s (minutes)
      group by 1, 2, 3, 4, 5, 6, 7
      order by 1, 2, 3, 4, 5, 6, 7
      on conflict (webhook_id, minutes, status, at, error_code, duration_class)
        do update set count = c.count + excluded.count, last_at = greatest(c.last_at, excluded.last_at)
    ), counted_for_users as (
      insert into webhook_service.user_attempt_counts as c (user_id, minutes, status, at, error_code, duration_class, count)
      select user_id, minutes, status, date_bin(minutes * interval '1 minute', recent.at, timestamptz 'epoch'),
             error_code, duration_class, sum(count)
      from recent cross join unnest('{5,60}'::smallint[]) as s (minutes)
      group by 1, 2, 3, 4, 5, 6
      order by 1, 2, 3, 4, 5, 6
      on conflict (user_id, minutes, status, at, error_code, duration_class) do update set count = c.count + excluded.count
    )
    select count(*)::int as attempts from recent`;

/** The webhooks whose counts `ROLL_UP` would change while another transaction has locked some of them, or of their user. */
const LOCKED_COUNTS = (['webhook_id', 'user_id'] as const).map((owner) => {
  const table = `webhook_service.${owner === 'user_id' ? 'user_' : ''}attempt_counts`;
  return `
  with wanted as (
    select ${owner} as owner, min(at) - interval '1 hour' as since from webhook_service.recent_attempts group by 1
  ), free as (
    select c.ctid from ${table} c join wanted w on c.${owner} = w.owner and c.at > w.since for update of c skip locked
  )
  select distinct webhook_id as id from webhook_service.recent_attempts where ${owner} in (
    select c.${owner} from ${table} c join wanted w on c.${owner} = w.owner and c.at > w.since
    where c.ctid not in (select ctid from free))`;
});

/** Keeps the table's size, because truncating it would block processes that count attempts. */
const VACUUM = 'vacuum (skip_locked, truncate off) webhook_service.recent_attempts';

const HAS_WEBHOOK: Statement = {
  name: 'user_has_webhook',
  text: 'select from webhook_service.webhooks where id = $1 and user_id = $2',
};

/** Reads and sums up the attempts that `countAttempts` has counted. */
@Injectable()
export class StatsRepository {
  constructor(private readonly statements: StatementsService) {}

  /** Returns the combined counts of all webhooks of a user, including deleted ones. */
  ofUser(userId: string, window: StepWindow): Promise<Omit<StepCount, 'webhookId'>[]> {
    return this.statements.run(COUNTS_OF_USER, [userId, ...boundsOf(window)]);
  }

  ofWebhooks(ids: readonly string[], window: StepWindow): Promise<StepCount[]> {
    return this.statements.run<StepCount & Record<string, unknown>>(COUNTS_OF_WEBHOOKS, [ids, ...boundsOf(window)]);
  }

  lastTimes(ids: readonly string[]): Promise<OfWebhook<LastTimes>[]> {
    return this.statements.run<OfWebhook<LastTimes> & Record<string, unknown>>(LAST_TIMES, [ids]);
  }

  present(ids: readonly string[]): Promise<OfWebhook<Present>[]> {
    return this.statements.runByIndex(PRESENT, [ids]);
  }

  /**
   * Sums up the attempts of the last seconds and vacuums their table, which is always read completely and cannot wait
   * for autovacuum. Returns true if there may be more. Leaves webhooks whose counts another transaction has locked.
   */
  async rollUp(): Promise<boolean> {
    const [summed] = await this.statements.run<{ attempts: number }>(ROLL_UP, [[]]).catch(async (error: unknown) => {
      if (!isLocked(error)) throw error;
      const locked = await Promise.all(LOCKED_COUNTS.map((sql) => this.statements.runByIndex<{ id: string }>(sql, [])));
      return this.statements.run<{ attempts: number }>(ROLL_UP, [locked.flat().map(({ id }) => id)]);
    });
    if (summed?.attempts) await this.statements.runAlone(VACUUM);
    return summed?.attempts === MOST_ATTEMPTS;
  }

  async hasWebhook(userId: string, id: string): Promise<boolean> {
    return (await this.statements.run(HAS_WEBHOOK, [id, userId])).length > 0;
  }
}

/** Hourly counts are stored in addition to five-minute counts, so that long spans are read quickly. */
function boundsOf({ stepMs, froms }: StepWindow): [since: Date, until: Date, stepMs: number, minutes: number] {
  const [first, last] = [froms[0] as Date, froms.at(-1) as Date];
  return [first, new Date(last.getTime() + stepMs), stepMs, stepMs < HOUR_MS ? 5 : 60];
}
