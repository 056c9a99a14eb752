import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type QueryDeepPartialEntity, Repository } from 'typeorm';
import { ClockService } from '../infrastructure/database/clock.service';
import { ApiError, invalid } from '../infrastructure/errors/api-error';
import { MESSAGES } from '../infrastructure/errors/messages';
import { newestFirst } from '../infrastructure/pagination/newest-first.query';
import type { Page } from '../infrastructure/pagination/page';
import type { CreateWebhookDto } from './dto/create-webhook.dto';
import type { ListWebhooksDto } from './dto/list-webhooks.dto';
import type { UpdateWebhookDto } from './dto/update-webhook.dto';
import { patternsOf } from './event-pattern';
import { SecretsService } from './secrets/secrets.service';
import { Webhook } from './webhook.entity';
import { WebhookRulesService } from './webhook-rules.service';
import { requireMatch } from './webhook-version';
import { WebhookLifecycleService } from './webhook-lifecycle.service';

/** Creates, lists, reads, changes and deletes a user's webhooks. */
@Injectable()
export class WebhooksService {
  constructor(
    @InjectRepository(Webhook) private readonly webhooks: Repository<Webhook>,
    private readonly rules: WebhookRulesService,
    private readonly clock: ClockService,
    private readonly secrets: SecretsService,
    private readonly lifecycle: WebhookLifecycleService,
  ) {}

  /**
   * Creates a webhook. Only this method returns its secret in plaintext.
   * @param wanted validated by `WebhookRulesService`
   * @throws ApiError 409 when the user has too many webhooks
   */
  async create(userId: string, wanted: CreateWebhookDto): Promise<{ webhook: Webhook; secret: string }> {
    const url = this.rules.canonical(wanted.url);
    const { id } = this.clock.newId();
    const secret = wanted.secret ?? this.secrets.generate();
    const webhook = await this.webhooks.manager.transaction(async (manager) => {
      await this.rules.refuseTooMany(manager, userId);
      const active = wanted.active ?? true;
      await manager.insert(Webhook, {
        id,
        userId,
        url,
        events: wanted.events,
        description: wanted.description ?? null,
        secret: this.secrets.seal(id, secret),
        active,
        disabledAt: active ? null : () => 'now()',
      });
      if (!active) await this.lifecycle.disabled(manager, id);
      return manager.findOneByOrFail(Webhook, { id });
    });
    return { webhook, secret };
  }

  /**
   * Returns one page of the user's webhooks, newest first.
   * @throws ApiError 400 for an invalid cursor
   */
  async list(userId: string, { active, event, q, ...page }: ListWebhooksDto): Promise<Page<Webhook>> {
    const query = this.webhooks.createQueryBuilder('w').where('w.userId = :userId', { userId });
    if (active !== undefined) query.andWhere('w.active = :active', { active });
    if (event !== undefined) query.andWhere('w.events && :patterns::text[]', { patterns: patternsOf(event) });
    if (q !== undefined) query.andWhere('(w.url ilike :like or w.description ilike :like)', { like: likeOf(q) });
    return newestFirst(query, page, [userId, 'webhooks', { active, event, q }]);
  }

  /** @throws ApiError 404 when the user has no such webhook */
  async read(userId: string, id: string): Promise<Webhook> {
    return found(await this.webhooks.findOneBy({ userId, id }));
  }

  /**
   * Changes the given fields. Deactivating cancels pending deliveries; a new secret takes effect immediately.
   * @param ifMatch the versions that may be changed; undefined: any
   * @throws ApiError 400 for no field, 404 when the user has no such webhook, 412 for another version
   */
  async update(userId: string, id: string, changes: UpdateWebhookDto, ifMatch?: string): Promise<Webhook> {
    if (Object.values(changes).every((value) => value === undefined)) throw invalid('body', MESSAGES.patchEmpty);
    const url = changes.url === undefined ? undefined : this.rules.canonical(changes.url);
    return this.webhooks.manager.transaction(async (manager) => {
      const before = found(
        await manager.findOne(Webhook, { where: { userId, id }, lock: { mode: 'pessimistic_write' } }),
      );
      requireMatch(before, ifMatch);
      await manager.update(Webhook, { id }, { ...this.columns(before, changes), ...(url && { url }) });
      if (changes.active === false && before.active) await this.lifecycle.disabled(manager, id);
      if (changes.active === true && !before.active) await this.lifecycle.activated(manager, id);
      return manager.findOneByOrFail(Webhook, { id });
    });
  }

  private columns(before: Webhook, { secret, ...changes }: UpdateWebhookDto): QueryDeepPartialEntity<Webhook> {
    return {
      ...changes,
      ...(secret !== undefined && {
        secret: this.secrets.seal(before.id, secret),
        secretRotatedAt: () => 'now()',
        previousSecret: null,
        previousSecretExpiresAt: null,
      }),
      ...(changes.active === false && before.active && { disabledAt: () => 'now()' }),
      // Setting active to true resets the failures, even if the webhook is still active.
      ...(changes.active && {
        disabledReason: null,
        disabledAt: null,
        consecutiveFailures: 0,
        healthyAt: () => 'now()',
      }),
      updatedAt: () => 'now()',
    };
  }

  /**
   * Deletes a webhook and cancels its pending deliveries. Its delivery log is kept.
   * @param ifMatch as for `update`
   * @throws ApiError 404 when the user has no such webhook, 412 for another version
   */
  async remove(userId: string, id: string, ifMatch?: string): Promise<void> {
    await this.webhooks.manager.transaction(async (manager) => {
      const webhook = await manager.findOne(Webhook, { where: { userId, id }, lock: { mode: 'pessimistic_write' } });
      requireMatch(found(webhook), ifMatch);
      await manager.delete(Webhook, { id });
      await this.lifecycle.deleted(manager, id);
    });
  }
}

/** Returns the pattern that finds a text anywhere. */
const likeOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

function found(webhook: Webhook | null): Webhook {
  if (!webhook) throw new ApiError('not_found', MESSAGES.webhookNotFound);
  return webhook;
}
