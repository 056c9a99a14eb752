import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Counter } from 'prom-client';
import { DataSource } from 'typeorm';
import { EventsService } from '../../events/events.service';
import { Turns } from '../../plumbing/database/turns';
import { whileBusy } from '../../plumbing/database/while-busy.timer';
import { MetricsService } from '../../plumbing/metrics/metrics.service';
import type { Ending } from '../../webhooks/failure-tally';
import type { DisabledReason } from '../../webhooks/webhook.entity';
import { type DisabledWebhook, WebhookHealthService } from '../../webhooks/webhook-health.service';
import type { Outcome, Written } from '../attempt';
import type { Lane } from '../lane';
import { StatsService } from '../../webhooks/stats/stats.service';

/**
 * Tells a webhook how its events ended: with a success, without retries left, or with a receiver that is gone. A success
 * that finds nothing to clear writes nothing.
 */
@Injectable()
export class AutoDisableService {
  private readonly logger = new Logger('Webhooks');
  private readonly disabled: Counter<'reason'>;
  /** Many attempts may find at once that a webhook is gone: of those of a user one at a time goes to the database. */
  private readonly turns = new Turns(1);

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly health: WebhookHealthService,
    private readonly stats: StatsService,
    private readonly events: EventsService,
    metrics: MetricsService,
  ) {
    const help = 'Webhooks that were disabled because their receiver kept failing, or is gone.';
    this.disabled = metrics.counterBy('webhooks_disabled_total', help, 'reason', ['failing', 'gone']);
  }

  /** Counts how an event ended, and disables the webhook when it has failed too often or its receiver is gone. */
  async note(
    { webhookId, userId }: Lane,
    { ending, exchange }: Pick<Outcome, 'ending' | 'exchange'>,
    { consecutiveFailures }: Pick<Written, 'consecutiveFailures'>,
  ): Promise<void> {
    const succeeded = ending === 'succeeded';
    if (ending === null || !exchange || (succeeded && !consecutiveFailures)) return;
    const { url, attemptedAt } = exchange;
    const ended: Ending = { webhookId, url, attemptedAt, succeeded };
    const failing = await this.health.ended(ended);
    if (ending === 'gone') await this.disable(ended, userId, 'gone');
    else if (failing) await this.disable(ended, userId, 'failing');
  }

  /** Disables the webhook and tells its owner, once, however many deliveries fail at once in however many processes. */
  private async disable(ended: Ending, userId: string, reason: DisabledReason): Promise<void> {
    const end = await this.turns.take(userId);
    try {
      const disabled = await whileBusy(() => this.tryToDisable(ended, reason));
      if (!disabled) return;
      this.disabled.inc({ reason });
      this.logger.log({ msg: 'webhook disabled', webhookId: ended.webhookId, reason });
    } finally {
      end();
    }
  }

  private async tryToDisable(ended: Ending, reason: DisabledReason): Promise<DisabledWebhook | null | 'busy'> {
    const { webhookId } = ended;
    const lastSuccessAt = reason === 'failing' ? await this.stats.lastSuccess(webhookId) : null;
    return this.dataSource.transaction(async (manager) => {
      const webhook = await this.health.disable(manager, ended, reason, lastSuccessAt);
      if (!webhook || webhook === 'busy') return webhook;
      const [url = ''] = webhook.url.split('?', 1);
      const data = { webhookId, url, reason, disabledAt: webhook.disabledAt.toISOString() };
      await this.events.publish('webhook.disabled', data, { userId: webhook.userId, manager });
      return webhook;
    });
  }
}
