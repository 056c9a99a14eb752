import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { EventCatalogue } from 'webhook-notification/catalogue';
import { Config } from '../infrastructure/config/config';
import { AddressPolicy } from '../infrastructure/destinations/address';
import { validateUrl } from '../infrastructure/destinations/url';
import { ApiError } from '../infrastructure/errors/api-error';
import { messageFor } from '../infrastructure/errors/messages';
import { StoredTypesService } from '../catalogue/stored-types.service';
import { unknownPatterns } from './event-pattern';
import { Webhook } from './webhook.entity';

/** Rules beyond a single field: allowed destinations, known event names, and the number of webhooks per user. */
@Injectable()
export class WebhookRulesService {
  constructor(
    private readonly config: Config,
    private readonly policy: AddressPolicy,
    private readonly catalogue: EventCatalogue,
    private readonly types: StoredTypesService,
  ) {}

  /**
   * Validates the given fields and returns the URL in its canonical form.
   * @param kept the current events of the webhook, which may stay even if their type was deleted
   * @throws ApiError 400 that lists every error
   */
  async validate(
    { url, events = [] }: { url?: string; events?: readonly string[] },
    kept: () => Promise<readonly string[]>,
  ): Promise<{ url?: string }> {
    const verdict = url === undefined ? null : validateUrl(url, this.policy, this.config);
    const unknown = await this.unknownOf(events, kept);
    const problems = [
      ...(verdict?.ok === false ? [verdict.reason] : []),
      ...(unknown.length > 0 ? [messageFor.unknownEvents(unknown, this.catalogue.subscribableNames)] : []),
    ];
    if (problems.length > 0) throw new ApiError(400, problems.join('; '));
    return verdict?.ok ? { url: verdict.url } : {};
  }

  private async unknownOf(events: readonly string[], kept: () => Promise<readonly string[]>): Promise<string[]> {
    if (unknownPatterns(events, this.catalogue.subscribableNames).length === 0) return [];
    const had = await kept();
    const added = events.filter((pattern) => !had.includes(pattern));
    if (unknownPatterns(added, this.catalogue.subscribableNames).length === 0) return [];
    await this.types.refresh();
    return unknownPatterns(added, this.catalogue.subscribableNames);
  }

  /**
   * Holds a lock per user until the transaction ends, so that concurrent creates count each other's rows.
   * @throws ApiError 409 when the user has the maximum number of webhooks
   */
  async refuseTooMany(manager: EntityManager, userId: string): Promise<void> {
    const max = this.config.maxWebhooksPerUser;
    await manager.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`webhooks of ${userId}`]);
    if ((await manager.countBy(Webhook, { userId })) >= max) throw new ApiError(409, messageFor.tooManyWebhooks(max));
  }
}
