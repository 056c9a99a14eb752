import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Config } from '../infrastructure/config/config';
import { Batcher } from '../infrastructure/concurrency/batcher';
import { whileBusy } from '../infrastructure/concurrency/pauses.timer';
import { StatementsService, statement } from '../infrastructure/database/statements.service';
import { type FinalOutcome, tallyOf } from './failure-tally';
import type { DisabledReason } from './webhook.entity';
import { WebhookLifecycleService } from './webhook-lifecycle.service';

export interface DisabledWebhook {
  userId: string;
  url: string;
  disabledAt: Date;
}

/** What the row of a webhook says after a final outcome. */
export interface HealthVerdict {
  /** True if the webhook has reached both thresholds for disabling. */
  disables: boolean;
  /** True if its owner has not been told that it is failing, or healthy again. */
  isNoticeDue: boolean;
}

const NOTHING_NEW: HealthVerdict = { disables: false, isNoticeDue: false };

/** Events in a row that ran out of retries before a webhook is failing, unless it is disabled after fewer. */
const FAILING_AFTER = 5;

/**
 * Matches webhooks `w` whose owner has yet to be told that they are failing, or healthy again. A webhook is failing from
 * `failing_since` on, and healthy again as soon as it has a `missed_count`; `told_failing` is the state that its owner knows.
 */
export const IS_NOTICE_DUE = 'w.failing_since is not null and w.told_failing = (w.missed_count is not null)';

/**
 * Skips webhooks that another transaction has locked, because the outcomes of other webhooks would wait too. Ignores
 * attempts to another URL and failures from before the last activation: they say nothing about the webhook's current
 * state. A webhook that recovers before its owner was told of its failures leaves nothing to tell.
 */
const COUNT = statement('count_failures')`
    with tally as (
      select * from unnest($1::uuid[], $2::boolean[], $3::int[], $6::text[], $7::timestamptz[], $8::int[], $9::boolean[])
        as t (id, cleared, failures, url, attempted_at, failures_before, may_fail)
    ), locked as (
      select w.id, w.consecutive_failures, w.failing_since is not null and w.missed_count is null as is_failing
      from webhook_service.webhooks w where w.id = any($1) order by w.id for no key update skip locked
    ), new as (
      select t.*, c.count, l.consecutive_failures + t.failures_before as missed,
             f.fails and not l.is_failing as begins, l.is_failing and t.cleared and not f.fails as ends
      from tally t join locked l using (id)
      cross join lateral (select case when t.cleared then 0 else l.consecutive_failures end + t.failures as count) c
      cross join lateral (select t.may_fail and c.count >= least(${FAILING_AFTER}, $4) as fails) f
    ), counted as (
      update webhook_service.webhooks w set
        consecutive_failures = n.count,
        healthy_at = case when n.cleared then now() else w.healthy_at end,
        failing_since = case
          when n.begins then coalesce(w.failing_since, now())
          when n.ends and not w.told_failing then null
          else w.failing_since end,
        missed_count = case when n.begins then null when n.ends and w.told_failing then n.missed else w.missed_count end
      from new n
      where w.id = n.id and w.active and w.url is not distinct from n.url and (n.cleared or w.healthy_at <= n.attempted_at)
      returning w.id, w.url, ${IS_NOTICE_DUE} as due,
        w.url is not null and w.consecutive_failures >= $4 and (w.healthy_at <= now() - $5 * interval '1 hour' or $5 = 0) as disables
    )
    select t.id, t.url, coalesce(c.disables, false) as disables, coalesce(c.due, false) as "isNoticeDue",
           l.id is null and exists (select from webhook_service.webhooks w where w.id = t.id) as busy
    from tally t left join locked l on l.id = t.id left join counted c on c.id = t.id and c.url is not distinct from t.url`;

/** Locks the row. Returns a row if another transaction has locked it. */
const LOCK = `
  with locked as (select id from webhook_service.webhooks where id = $1 for no key update skip locked)
  select from webhook_service.webhooks where id = $1 and not exists (select from locked)`;

/** The row records the last activation and the last success that reset failures. The delivery log contains later ones. */
const NOTE_SUCCESS = `
  update webhook_service.webhooks set healthy_at = greatest(healthy_at, $2) where id = $1`;

const DISABLE = `
  update webhook_service.webhooks set active = false, disabled_reason = $2, disabled_at = now(), updated_at = now()
  where id = $1 and active and url = $5 and ($2 = 'gone' and healthy_at <= $6
    or consecutive_failures >= $3 and (healthy_at <= now() - $4 * interval '1 hour' or $4 = 0))
  returning user_id as "userId", url, disabled_at as "disabledAt"`;

const MAX_BATCH = 500;

type CountedRow = HealthVerdict & { id: string; url: string | null; busy: boolean };

/** Counts the consecutive events of each webhook that ran out of retries, and disables webhooks with too many. */
@Injectable()
export class WebhookHealthService {
  private readonly outcomes = new Batcher<FinalOutcome, HealthVerdict | 'busy'>(
    (outcomes) => this.count(outcomes),
    MAX_BATCH,
  );
  private readonly thresholds: [failures: number, hours: number];

  constructor(
    config: Config,
    private readonly statements: StatementsService,
    private readonly lifecycle: WebhookLifecycleService,
  ) {
    this.thresholds = [config.disableAfterFailures, config.disableAfterHours];
  }

  /** Counts a final outcome, and returns what follows by the row of the webhook. */
  ended(outcome: FinalOutcome): Promise<HealthVerdict> {
    return whileBusy(() => this.outcomes.add(outcome));
  }

  /**
   * Disables the webhook and cancels its pending deliveries, in the transaction of `manager`. Returns null if the
   * webhook is no longer active, was given another URL or activated since the attempt, or is not failing after all;
   * 'busy' if another transaction has locked it.
   * @param lastSuccessAt the last success in its delivery log, when the reason is `failing`
   */
  async disable(
    manager: EntityManager,
    { webhookId: id, url, attemptedAt }: FinalOutcome,
    reason: DisabledReason,
    lastSuccessAt: Date | null,
  ): Promise<DisabledWebhook | null | 'busy'> {
    if ((await manager.query<unknown[]>(LOCK, [id])).length > 0) return 'busy';
    if (lastSuccessAt) await manager.query(NOTE_SUCCESS, [id, lastSuccessAt]);
    const values = [id, reason, ...this.thresholds, url, attemptedAt];
    const [[disabled]] = await manager.query<[DisabledWebhook[], number]>(DISABLE, values);
    if (!disabled) return null;
    await this.lifecycle.disabled(manager, id);
    return disabled;
  }

  private async count(outcomes: FinalOutcome[]): Promise<(HealthVerdict | 'busy')[]> {
    const tallies = tallyOf(outcomes);
    const rows = await this.statements.run<CountedRow>(COUNT, [
      tallies.map(({ webhookId }) => webhookId),
      tallies.map(({ cleared }) => cleared),
      tallies.map(({ failures }) => failures),
      ...this.thresholds,
      tallies.map(({ url }) => url),
      tallies.map(({ firstAttemptedAt }) => firstAttemptedAt),
      tallies.map(({ failuresBefore }) => failuresBefore),
      tallies.map(({ mayFail }) => mayFail),
    ]);
    const verdicts = new Map(
      rows.map(({ id, url, busy, ...verdict }) => [`${id} ${url}`, busy ? ('busy' as const) : verdict]),
    );
    return outcomes.map(({ webhookId, url }) => verdicts.get(`${webhookId} ${url}`) ?? NOTHING_NEW);
  }
}
