import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Counter } from 'prom-client';
import { DataSource } from 'typeorm';
import { EventsService } from '../../events/events.service';
import { MetricsService } from '../../plumbing/metrics/metrics.service';
import type { DisabledReason } from '../../webhooks/webhook.entity';
import { WebhookHealthService } from '../../webhooks/webhook-health.service';
import type { Outcome, Written } from '../attempt';
import { DeliveriesRepository } from '../deliveries.repository';

/**
 * Tells a webhook how its events ended: with a success, without retries left, or with a receiver that is gone. A success
 * that finds nothing to clear writes nothing.
 */
@Injectable()
export class AutoDisableService {
  private readonly logger = new Logger('Webhooks');
  private readonly disabled: Counter<'reason'>;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly health: WebhookHealthService,
    private readonly deliveries: DeliveriesRepository,
    private readonly events: EventsService,
    metrics: MetricsService,
  ) {
    const help = 'Webhooks that were disabled because their receiver kept failing, or is gone.';
    this.disabled = metrics.counterBy('webhooks_disabled_total', help, 'reason', ['failing', 'gone']);
  }

  /** Counts how an event ended, and disables the webhook when it has failed too often or its receiver is gone. */
  async note(
    webhookId: string,
    { ending, consecutiveFailures }: Pick<Outcome, 'ending'> & Pick<Written, 'consecutiveFailures'>,
  ): Promise<void> {
    const succeeded = ending === 'succeeded';
    if (ending === null || (succeeded && !consecutiveFailures)) return;
    const failing = await this.health.ended({ webhookId, succeeded });
    if (ending === 'gone') await this.disable(webhookId, 'gone');
    else if (failing) await this.disable(webhookId, 'failing');
  }

  /** Disables the webhook and tells its owner, once, however many deliveries fail at once in however many processes. */
  private async disable(webhookId: string, reason: DisabledReason): Promise<void> {
    const lastSuccessAt = reason === 'failing' ? await this.deliveries.lastSuccessAt(webhookId) : null;
    const disabled = await this.dataSource.transaction(async (manager) => {
      const webhook = await this.health.disable(manager, webhookId, reason, lastSuccessAt);
      if (!webhook) return false;
      const [url = ''] = webhook.url.split('?', 1);
      const data = { webhookId, url, reason, disabledAt: webhook.disabledAt.toISOString() };
      await this.events.publish('webhook.disabled', data, { userId: webhook.userId, manager });
      return true;
    });
    if (!disabled) return;
    this.disabled.inc({ reason });
    this.logger.log({ msg: 'webhook disabled', webhookId, reason });
  }
}
