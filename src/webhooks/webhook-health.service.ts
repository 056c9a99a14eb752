import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Config } from '../plumbing/config/config';
import { Batcher } from '../plumbing/database/batcher';
import { StatementsService } from '../plumbing/database/statements.service';
import { type Ending, tallyOf } from './failure-tally';
import type { DisabledReason } from './webhook.entity';
import { WebhookLifecycleService } from './webhook-lifecycle.service';

/** A webhook that the service has just disabled. */
export interface DisabledWebhook {
  userId: string;
  url: string;
  disabledAt: Date;
}

/** Locks the rows in the order of their ids, so that two processes cannot deadlock. */
const COUNT = {
  name: 'count_failures',
  text: `
    with tally as (
      select * from unnest($1::uuid[], $2::boolean[], $3::int[]) as t (id, cleared, failures)
    ), locked as (
      select w.id from webhook_service.webhooks w where w.id = any($1) order by w.id for no key update
    )
    update webhook_service.webhooks w set
      consecutive_failures = case when t.cleared then 0 else w.consecutive_failures end + t.failures,
      healthy_at = case when t.cleared then now() else w.healthy_at end
    from tally t join locked using (id)
    where w.id = t.id and w.active
    returning w.id, w.consecutive_failures >= $4 and (w.healthy_at <= now() - $5 * interval '1 hour' or $5 = 0) as failing`,
};

/** The row knows the last activation and the last success that cleared failures. The delivery log knows later ones. */
const NOTE_SUCCESS = `
  update webhook_service.webhooks set healthy_at = greatest(healthy_at, $2) where id = $1`;

const DISABLE = `
  update webhook_service.webhooks set active = false, disabled_reason = $2, updated_at = now()
  where id = $1 and active and ($2 = 'gone'
    or consecutive_failures >= $3 and (healthy_at <= now() - $4 * interval '1 hour' or $4 = 0))
  returning user_id as "userId", url, updated_at as "disabledAt"`;

const MAX_BATCH = 500;

/** Counts, for each webhook, the events in a row that ran out of retries, and disables a webhook that has too many. */
@Injectable()
export class WebhookHealthService {
  private readonly endings = new Batcher<Ending, boolean>((endings) => this.count(endings), MAX_BATCH);
  private readonly thresholds: [failures: number, hours: number];

  constructor(
    config: Config,
    private readonly statements: StatementsService,
    private readonly lifecycle: WebhookLifecycleService,
  ) {
    this.thresholds = [config.disableAfterFailures, config.disableAfterHours];
  }

  /** Counts how an event ended. True when the webhook's row says that both thresholds for disabling are reached. */
  ended(ending: Ending): Promise<boolean> {
    return this.endings.add(ending);
  }

  /**
   * Disables the webhook and cancels what is pending for it, in the transaction of `manager`. Null when it is no longer
   * active, or not failing after all.
   * @param lastSuccessAt the last success in its delivery log, when the reason is `failing`
   */
  async disable(
    manager: EntityManager,
    id: string,
    reason: DisabledReason,
    lastSuccessAt: Date | null,
  ): Promise<DisabledWebhook | null> {
    if (lastSuccessAt) await manager.query(NOTE_SUCCESS, [id, lastSuccessAt]);
    const values = [id, reason, ...this.thresholds];
    const [[disabled]] = await manager.query<[DisabledWebhook[], number]>(DISABLE, values);
    if (!disabled) return null;
    await this.lifecycle.disabled(manager, id);
    return disabled;
  }

  private async count(endings: Ending[]): Promise<boolean[]> {
    const tallies = tallyOf(endings);
    const rows = await this.statements.run<{ id: string; failing: boolean }>(COUNT, [
      tallies.map(({ webhookId }) => webhookId),
      tallies.map(({ cleared }) => cleared),
      tallies.map(({ failures }) => failures),
      ...this.thresholds,
    ]);
    const failing = new Set(rows.filter((row) => row.failing).map(({ id }) => id));
    return endings.map(({ webhookId }) => failing.has(webhookId));
  }
}
