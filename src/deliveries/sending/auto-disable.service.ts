import { Injectable, Logger } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { DataSource } from 'typeorm';
import { isReserved } from 'webhook-notification/catalogue';
import { EventsService } from '../../events/events.service';
import { unlessErased } from '../../events/unless-erased';
import { KeyedMutex } from '../../infrastructure/concurrency/keyed-mutex';
import { whileBusy } from '../../infrastructure/concurrency/pauses.timer';
import { MetricsService } from '../../infrastructure/metrics/metrics.service';
import type { FinalOutcome } from '../../webhooks/failure-tally';
import { type DisabledWebhook, WebhookHealthService } from '../../webhooks/webhook-health.service';
import type { Attempt, Outcome, Written } from '../rows/attempt';
import { NoticesService } from '../notices/notices.service';
import { StatsService } from '../../webhooks/stats/stats.service';

/** Counts final outcomes for webhooks, and disables those that fail too often or are gone. */
@Injectable()
export class AutoDisableService {
  private readonly logger = new Logger(AutoDisableService.name);
  private readonly disabled: Counter<'reason'>;
  /** Many attempts may find at once that a webhook is gone; one per user accesses the database at a time. */
  private readonly mutex = new KeyedMutex(1);

  constructor(
    private readonly dataSource: DataSource,
    private readonly health: WebhookHealthService,
    private readonly stats: StatsService,
    private readonly events: EventsService,
    private readonly notices: NoticesService,
    metrics: MetricsService,
  ) {
    const help = 'Webhooks that were disabled because their receiver kept failing, or is gone.';
    this.disabled = metrics.counterBy('webhooks_disabled_total', help, 'reason', ['failing', 'gone']);
  }

  /** A success that has no failures to clear writes nothing. `NoticesService` tells the owner what changed. */
  async note(
    { webhookId, userId, event }: Pick<Attempt, 'webhookId' | 'userId' | 'event'>,
    { finalStatus, exchange }: Pick<Outcome, 'finalStatus' | 'exchange'>,
    { consecutiveFailures }: Pick<Written, 'consecutiveFailures'>,
  ): Promise<void> {
    const succeeded = finalStatus === 'succeeded';
    if (finalStatus === null || !exchange || (succeeded && !consecutiveFailures)) return;
    const { url, attemptedAt } = exchange;
    const outcome: FinalOutcome = { webhookId, url, attemptedAt, succeeded, isAboutWebhooks: isReserved(event) };
    const { disables, isNoticeDue } = await this.health.ended(outcome);
    if (isNoticeDue) this.notices.note();
    if (finalStatus === 'gone') await this.disable(outcome, userId, 'gone');
    else if (disables) await this.disable(outcome, userId, 'failing');
  }

  /** Disables the webhook and notifies its owner once, however many deliveries fail at once in however many processes. */
  private async disable(outcome: FinalOutcome, userId: string, reason: 'failing' | 'gone'): Promise<void> {
    const end = await this.mutex.acquire(userId);
    try {
      const disabled = await whileBusy(() => this.tryToDisable(outcome, reason));
      if (!disabled) return;
      this.disabled.inc({ reason });
      this.logger.log({ msg: 'webhook disabled', webhookId: outcome.webhookId, reason });
    } finally {
      end();
    }
  }

  private async tryToDisable(
    outcome: FinalOutcome,
    reason: 'failing' | 'gone',
  ): Promise<DisabledWebhook | null | 'busy'> {
    const { webhookId } = outcome;
    const lastSuccessAt = reason === 'failing' ? await this.stats.lastSuccess(webhookId) : null;
    return this.dataSource.transaction(async (manager) => {
      const webhook = await this.health.disable(manager, outcome, reason, lastSuccessAt);
      if (!webhook || webhook === 'busy') return webhook;
      const url = new URL(webhook.url).origin;
      const data = { webhookId, url, reason, disabledAt: webhook.disabledAt.toISOString() };
      await unlessErased(this.events.publish('webhook.disabled', data, { userId: webhook.userId, manager }));
      return webhook;
    });
  }
}
