import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { EventCatalogue, type FieldError } from 'webhook-notification/catalogue';
import { Config } from '../infrastructure/config/config';
import { AddressPolicy } from '../infrastructure/destinations/address';
import { validateUrl } from '../infrastructure/destinations/url';
import { ApiError, messageFor } from '../infrastructure/errors/api-error';
import type { RequestRules, RuleRequest } from '../infrastructure/validation/api-request.decorator';
import { StoredTypesService } from '../catalogue/stored-types.service';
import type { CreateWebhookDto } from './dto/webhook-fields.dto';
import { timingErrors } from './attempt-timing';
import { unknownPatterns } from './event-pattern';
import { Webhook, type WebhookKey } from './webhook.entity';
import { reservedErrors } from './headers/header-rules';
import { kindErrors } from './webhook-fields';

/** Rules that depend on settings and on other rows: allowed destinations, known event names, bounds, the number of webhooks per user. */
@Injectable()
export class WebhookRulesService implements RequestRules {
  constructor(
    @InjectRepository(Webhook) private readonly webhooks: Repository<Webhook>,
    private readonly config: Config,
    private readonly policy: AddressPolicy,
    private readonly catalogue: EventCatalogue,
    private readonly types: StoredTypesService,
  ) {}

  /**
   * Validates `url`, `events`, `headers`, `timeoutMs`, `retryDelaysMs` and, of a new webhook, the fields of its kind. Current events of the webhook may
   * stay, even if their type was deleted.
   */
  async errorsOf(fields: Partial<CreateWebhookDto>, { user, params }: RuleRequest): Promise<FieldError[]> {
    const { url, events, ...timing } = fields;
    const verdict = url === undefined ? null : validateUrl(url, this.policy, this.config);
    const webhook = { userId: user?.userId ?? '', ...(params as Partial<WebhookKey>) };
    const isNew = Object.keys(params as object).length === 0;
    return [
      ...(isNew ? kindErrors(fields.kind ?? 'push', fields) : []),
      ...(verdict?.ok === false ? [{ field: 'url', code: verdict.code, message: verdict.reason }] : []),
      ...(await this.unknownEvents(events ?? [], webhook)),
      ...reservedErrors(fields.headers, this.config.headerPrefix),
      ...timingErrors(timing, this.config),
    ];
  }

  canonical(url: string): string {
    const verdict = validateUrl(url, this.policy, this.config);
    if (!verdict.ok) throw ApiError.invalid({ field: 'url', code: verdict.code, message: verdict.reason });
    return verdict.url;
  }

  private async unknownEvents(
    events: readonly string[],
    webhook: { userId: string; id?: string; externalId?: string },
  ): Promise<FieldError[]> {
    if (unknownPatterns(events, this.catalogue.subscribableNames).length === 0) return [];
    const exists = webhook.id !== undefined || webhook.externalId !== undefined;
    const kept = exists ? await this.webhooks.findOneBy(webhook) : null;
    const added = events.filter((pattern) => !kept?.events.includes(pattern));
    if (unknownPatterns(added, this.catalogue.subscribableNames).length === 0) return [];
    await this.types.refresh();
    const unknown = unknownPatterns(added, this.catalogue.subscribableNames);
    if (unknown.length === 0) return [];
    const message = messageFor.unknownEvents(unknown, this.catalogue.subscribableNames);
    return [{ field: 'events', code: 'unknown_event_type', message }];
  }

  /** Locks the set of a user's webhooks until the transaction ends: what it counts and which external ids it has. */
  async lockWebhooksOf(userId: string, manager: EntityManager): Promise<void> {
    await manager.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`webhooks of ${userId}`]);
  }

  /** Checks that the user may have one more webhook. Requires `lockWebhooksOf`. */
  async refuseTooMany(userId: string, manager: EntityManager): Promise<void> {
    const max = this.config.maxWebhooksPerUser;
    if ((await manager.countBy(Webhook, { userId })) >= max)
      throw new ApiError('webhook_limit_reached', messageFor.tooManyWebhooks(max));
  }

  /** Checks that no webhook of the user has this external id. Requires `lockWebhooksOf`. */
  async refuseTaken(userId: string, externalId: string, manager: EntityManager): Promise<void> {
    if (await manager.existsBy(Webhook, { userId, externalId }))
      throw new ApiError('external_id_taken', messageFor.externalIdTaken(externalId));
  }
}
