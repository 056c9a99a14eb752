import { Injectable } from '@nestjs/common';
import { type Statement, StatementsService } from '../../infrastructure/database/statements.service';
import type { AttemptCount } from './attempt-numbers';
import type { StepWindow } from './step-window';

/** Counts of one step. */
export interface StepCount extends AttemptCount {
  webhookId: string;
  /** When the step begins. */
  from: Date;
}

/** Current state of a webhook. */
export interface Present {
  webhookId: string;
  /** Number of pending deliveries, excluding test deliveries, counted up to 1,000. */
  pending: number;
  /** Null if none is on record. */
  lastSuccessAt: Date | null;
  lastDeliveryAt: Date | null;
}

const HOUR_MS = 3_600_000;

/** Counts of spans of $5 minutes, and the attempts of the last seconds. */
const COUNTS = `(
  select webhook_id, user_id, status, at, error_code, duration_class, count
  from webhook_service.attempt_counts where minutes = $5
  union all
  select webhook_id, user_id, status, at, error_code, duration_class, count from webhook_service.recent_attempts
) as c`;

const STEP_COUNTS = `
  select date_bin($4 * interval '1 millisecond', at, timestamptz 'epoch') as "from", status,
         error_code as "errorCode", duration_class as "durationClass", sum(count)::int as count`;

const COUNTS_OF_USER: Statement = {
  name: 'attempt_counts_of_user',
  text: `
    ${STEP_COUNTS} from ${COUNTS}
    where user_id = $1 and at >= $2 and at < $3 group by 1, 2, 3, 4`,
};

const COUNTS_OF_WEBHOOKS: Statement = {
  name: 'attempt_counts_of_webhooks',
  text: `
    ${STEP_COUNTS}, webhook_id as "webhookId" from ${COUNTS}
    where webhook_id = any($1::uuid[]) and at >= $2 and at < $3 and status in ('succeeded', 'failed', 'canceled')
    group by 1, 2, 3, 4, webhook_id`,
};

/** Version 0.2 counted without `last_at`; for its rows the end of the five minutes is used instead. */
const lastAt = (status: string) => `
  greatest(recent.${status}, (
    select max(coalesce(last_at, least(at + interval '5 minutes', now()))) from (
      select last_at, at from webhook_service.attempt_counts c
      where c.webhook_id = w.id and c.minutes = 5 and c.status = '${status}'
      order by at desc fetch first row with ties) as newest))`;

const LAST_TIMES: Statement = {
  name: 'last_attempts_of_webhooks',
  text: `
    with recent as (
      select webhook_id as id,
             max(at) filter (where status = 'succeeded') as succeeded, max(at) filter (where status = 'failed') as failed
      from webhook_service.recent_attempts where webhook_id = any($1::uuid[]) group by 1
    )
    select w.id as "webhookId", ${lastAt('succeeded')} as "lastSuccessAt",
           greatest(${lastAt('succeeded')}, ${lastAt('failed')}) as "lastDeliveryAt"
    from unnest($1::uuid[]) as w (id) left join recent using (id)`,
};

/** Maximum number of attempts that one statement sums up. */
const MOST_ATTEMPTS = 50_000;

/** Locks counts in order, so that two processes cannot deadlock. */
const ROLL_UP: Statement = {
  name: 'roll_attempts_up',
  text: `
    with recent as (
      delete from webhook_service.recent_attempts where ctid = any(array(
        select ctid from webhook_service.recent_attempts limit ${MOST_ATTEMPTS} for update skip locked))
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
    )
    select count(*)::int as attempts from recent`,
};

/** Keeps the table's size, because truncating it would block processes that count attempts. */
const VACUUM = 'vacuum (skip_locked, truncate off) webhook_service.recent_attempts';

const PENDING: Statement = {
  name: 'pending_of_webhooks',
  text: `
    select w.id as "webhookId", (
      select count(*)::int from (
        select from webhook_service.deliveries d
        -- Ordering by the columns of the index keeps PostgreSQL from using another one.
        where d.webhook_id between w.id and w.id and d.status = 'pending' and d.trigger <> 'test'
        order by d.webhook_id, d.event_id limit 1000) as p) as pending
    from unnest($1::uuid[]) as w (id)`,
};

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

  /** Returns the counts of each of these webhooks. */
  ofWebhooks(ids: readonly string[], window: StepWindow): Promise<StepCount[]> {
    return this.statements.run<StepCount & Record<string, unknown>>(COUNTS_OF_WEBHOOKS, [ids, ...boundsOf(window)]);
  }

  /** Returns the times of the last and the last successful attempt to each of these webhooks, excluding tests. */
  lastTimes(ids: readonly string[]): Promise<Omit<Present, 'pending'>[]> {
    return this.statements.run<Present & Record<string, unknown>>(LAST_TIMES, [ids]);
  }

  /** Returns the number of pending deliveries of each of these webhooks, counted up to 1,000. */
  pending(ids: readonly string[]): Promise<Pick<Present, 'webhookId' | 'pending'>[]> {
    return this.statements.run<Present & Record<string, unknown>>(PENDING, [ids]);
  }

  /**
   * Sums up the attempts of the last seconds and vacuums their table, which is always read completely and cannot wait
   * for autovacuum. Returns true if there may be more.
   */
  async rollUp(): Promise<boolean> {
    const [summed] = await this.statements.run<{ attempts: number }>(ROLL_UP, []);
    if (summed?.attempts) await this.statements.runAlone(VACUUM);
    return summed?.attempts === MOST_ATTEMPTS;
  }

  /** Returns whether the user has this webhook. */
  async hasWebhook(userId: string, id: string): Promise<boolean> {
    return (await this.statements.run(HAS_WEBHOOK, [id, userId])).length > 0;
  }
}

/** Hourly counts are stored in addition to five-minute counts, so that long spans are read quickly. */
function boundsOf({ stepMs, froms }: StepWindow): [since: Date, until: Date, stepMs: number, minutes: number] {
  const [first, last] = [froms[0] as Date, froms.at(-1) as Date];
  return [first, new Date(last.getTime() + stepMs), stepMs, stepMs < HOUR_MS ? 5 : 60];
}
