import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Config } from '../infrastructure/config/config';
import { Batcher } from '../infrastructure/concurrency/batcher';
import { whileBusy } from '../infrastructure/concurrency/while-busy.timer';
import { StatementsService } from '../infrastructure/database/statements.service';
import { type FinalOutcome, tallyOf } from './failure-tally';
import type { DisabledReason } from './webhook.entity';
import { WebhookLifecycleService } from './webhook-lifecycle.service';

/** A webhook that the service has just disabled. */
export interface DisabledWebhook {
  userId: string;
  url: string;
  disabledAt: Date;
}

/**
 * Skips webhooks that another transaction has locked, because the outcomes of other webhooks would wait too. Ignores
 * attempts to another URL and failures from before the last activation: they say nothing about the webhook's current
 * state.
 */
const COUNT = {
  name: 'count_failures',
  text: `
    with tally as (
      select * from unnest($1::uuid[], $2::boolean[], $3::int[], $6::text[], $7::timestamptz[])
        as t (id, cleared, failures, url, attempted_at)
    ), locked as (
      select w.id from webhook_service.webhooks w where w.id = any($1) order by w.id for no key update skip locked
    ), counted as (
      update webhook_service.webhooks w set
        consecutive_failures = case when t.cleared then 0 else w.consecutive_failures end + t.failures,
        healthy_at = case when t.cleared then now() else w.healthy_at end
      from tally t join locked using (id)
      where w.id = t.id and w.active and w.url = t.url and (t.cleared or w.healthy_at <= t.attempted_at)
      returning w.id, w.url,
        w.consecutive_failures >= $4 and (w.healthy_at <= now() - $5 * interval '1 hour' or $5 = 0) as failing
    )
    select t.id, t.url, coalesce(c.failing, false) as failing,
           l.id is null and exists (select from webhook_service.webhooks w where w.id = t.id) as busy
    from tally t left join locked l on l.id = t.id left join counted c on c.id = t.id and c.url = t.url`,
};

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

/** Counts the consecutive events of each webhook that ran out of retries, and disables webhooks with too many. */
@Injectable()
export class WebhookHealthService {
  private readonly outcomes = new Batcher<FinalOutcome, boolean | 'busy'>(
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

  /** Counts a final outcome. Returns true if, by its row, the webhook has reached both thresholds for disabling. */
  ended(outcome: FinalOutcome): Promise<boolean> {
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

  private async count(outcomes: FinalOutcome[]): Promise<(boolean | 'busy')[]> {
    const tallies = tallyOf(outcomes);
    const rows = await this.statements.run<Pick<FinalOutcome, 'url'> & { id: string; failing: boolean; busy: boolean }>(
      COUNT,
      [
        tallies.map(({ webhookId }) => webhookId),
        tallies.map(({ cleared }) => cleared),
        tallies.map(({ failures }) => failures),
        ...this.thresholds,
        tallies.map(({ url }) => url),
        tallies.map(({ firstAttemptedAt }) => firstAttemptedAt),
      ],
    );
    const verdicts = new Map(
      rows.map(({ id, url, busy, failing }) => [`${id} ${url}`, busy ? ('busy' as const) : failing]),
    );
    return outcomes.map(({ webhookId, url }) => verdicts.get(`${webhookId} ${url}`) ?? false);
  }
}
