import { Injectable } from '@nestjs/common';
import { missingScope, type Principal } from '../auth/access-token';
import { ClockService } from '../infrastructure/database/clock.service';
import { Config } from '../infrastructure/config/config';
import { ApiError, messageFor } from '../infrastructure/errors/api-error';
import type { Page } from '../infrastructure/pagination/page';
import type { ListWebhooksDto, ReadWebhookDto } from './dto/list-webhooks.dto';
import { type Health, healthOf } from './stats/health';
import type { LastTimes } from './stats/stats.repository';
import { later, StatsService, type WebhookStats } from './stats/stats.service';
import type { Webhook, WebhookKey } from './webhook.entity';
import { WebhooksService } from './webhooks.service';
import { HOUR_MS } from '../infrastructure/config/durations';

export interface WebhookView extends LastTimes {
  webhook: Webhook;
  /** When the webhook will be disabled unless it succeeds before; null while that is not near. */
  disablesAt: Date | null;
  /** Present only on request. */
  stats?: WebhookStats & { health: Health };
}

const NEVER: LastTimes = { lastSuccessAt: null, lastFailureAt: null };

/**
 * Returns the end of the hours for which an active webhook may go without success, once enough events in a row have failed. A pull
 * webhook is never disabled for that.
 */
export function disablesAt(
  {
    url,
    active,
    consecutiveFailures,
    healthyAt,
  }: Pick<Webhook, 'url' | 'active' | 'consecutiveFailures' | 'healthyAt'>,
  lastSuccessAt: Date | null,
  { disableAfterFailures, disableAfterHours }: Pick<Config, 'disableAfterFailures' | 'disableAfterHours'>,
): Date | null {
  if (url === null || !active || consecutiveFailures < disableAfterFailures) return null;
  // The row records no success that had no failures to reset.
  const from = later(healthyAt, lastSuccessAt) as Date;
  return new Date(from.getTime() + disableAfterHours * HOUR_MS);
}

@Injectable()
export class WebhookViewsService {
  constructor(
    private readonly webhooks: WebhooksService,
    private readonly stats: StatsService,
    private readonly clock: ClockService,
    private readonly config: Config,
  ) {}

  async list(user: Principal, { include, ...query }: ListWebhooksDto): Promise<Page<WebhookView>> {
    requireScopeFor(include, user);
    const page = await this.webhooks.list(user.userId, query);
    const views = await this.viewsOf(page.items, include);
    return page.map((webhook) => views(webhook));
  }

  async read(user: Principal, key: WebhookKey, { include }: ReadWebhookDto): Promise<WebhookView> {
    requireScopeFor(include, user);
    const webhook = await this.webhooks.read(user.userId, key);
    return (await this.viewsOf([webhook], include))(webhook);
  }

  async of(webhook: Webhook): Promise<WebhookView> {
    return (await this.viewsOf([webhook]))(webhook);
  }

  private async viewsOf(webhooks: readonly Webhook[], include?: 'stats'): Promise<(webhook: Webhook) => WebhookView> {
    const ids = webhooks.map(({ id }) => id);
    if (!include) {
      const times = await this.stats.lastTimes(ids);
      return (webhook) => this.view(webhook, times.get(webhook.id));
    }
    const statsOf = await this.stats.ofWebhooks(ids);
    const now = this.clock.now();
    return (webhook) => {
      const stats = statsOf.get(webhook.id);
      const view = this.view(webhook, stats);
      return stats ? { ...view, stats: { ...stats, health: healthOf({ ...webhook, ...stats }, now) } } : view;
    };
  }

  private view(webhook: Webhook, { lastSuccessAt, lastFailureAt }: LastTimes = NEVER): WebhookView {
    const time = disablesAt(webhook, lastSuccessAt, this.config);
    return { webhook, lastSuccessAt, lastFailureAt, disablesAt: time };
  }
}

function requireScopeFor(include: 'stats' | undefined, { scopes }: Principal): void {
  const missing = include && missingScope(['deliveries:read'], scopes);
  if (missing) throw new ApiError('scope_missing', messageFor.missingScope(missing));
}
