import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { EventCatalogue } from 'webhook-notification/catalogue';
import { Config } from '../plumbing/config/config';
import { AddressPolicy } from '../plumbing/destinations/address';
import { judgeUrl } from '../plumbing/destinations/url';
import { ApiError } from '../plumbing/errors/api-error';
import { messageFor } from '../plumbing/errors/messages';
import { StoredTypesService } from '../catalogue/stored-types.service';
import { unknownPatterns } from './event-pattern';
import { Webhook } from './webhook.entity';

/** The rules that need more than the field itself: destinations, event names, and how many webhooks a user may have. */
@Injectable()
export class WebhookRulesService {
  constructor(
    private readonly config: Config,
    private readonly policy: AddressPolicy,
    private readonly catalogue: EventCatalogue,
    private readonly types: StoredTypesService,
  ) {}

  /**
   * Judges what is given and returns the url in its canonical form.
   * @param kept the events that the webhook has: they may stay, also those of a type that was deleted
   * @throws ApiError 400 that names every fault
   */
  async judge(
    { url, events = [] }: { url?: string; events?: readonly string[] },
    kept: () => Promise<readonly string[]>,
  ): Promise<{ url?: string }> {
    const verdict = url === undefined ? null : judgeUrl(url, this.policy, this.config);
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
   * @throws ApiError 409 when the user has as many webhooks as a user may have
   */
  async refuseTooMany(manager: EntityManager, userId: string): Promise<void> {
    const max = this.config.maxWebhooksPerUser;
    await manager.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`webhooks of ${userId}`]);
    if ((await manager.countBy(Webhook, { userId })) >= max) throw new ApiError(409, messageFor.tooManyWebhooks(max));
  }
}
