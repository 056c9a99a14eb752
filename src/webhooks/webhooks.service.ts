import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, type QueryDeepPartialEntity, Repository } from 'typeorm';
import type { FieldError } from 'webhook-notification/catalogue';
import { ClockService } from '../infrastructure/database/clock.service';
import { ApiError, invalid, messageFor, MESSAGES } from '../infrastructure/errors/api-error';
import { newestFirst } from '../infrastructure/pagination/newest-first.query';
import type { Page } from '../infrastructure/pagination/page';
import type { ListWebhooksDto } from './dto/list-webhooks.dto';
import type { UpdateWebhookDto } from './dto/update-webhook.dto';
import type { CreateWebhookDto, WebhookDeclarationDto } from './dto/webhook-fields.dto';
import { patternsOf } from './event-pattern';
import { metadataOfPair } from './metadata';
import { HeadersService } from './headers/headers.service';
import { SecretRotationService } from './secret-rotation.service';
import { SecretsService } from './secrets/secrets.service';
import { Webhook, type WebhookKey } from './webhook.entity';
import { fieldsOf, requireKind, SETTABLE_NAMES, type SettableName, withDefaults } from './webhook-fields';
import { WebhookRulesService } from './webhook-rules.service';
import { type Conditions, requireConditions } from './webhook-version';
import { WebhookLifecycleService } from './webhook-lifecycle.service';

export interface CreatedWebhook {
  webhook: Webhook;
  secret: string;
}

@Injectable()
export class WebhooksService {
  constructor(
    @InjectRepository(Webhook) private readonly webhooks: Repository<Webhook>,
    private readonly rules: WebhookRulesService,
    private readonly clock: ClockService,
    private readonly secrets: SecretsService,
    private readonly rotation: SecretRotationService,
    private readonly lifecycle: WebhookLifecycleService,
    private readonly headers: HeadersService,
  ) {}

  /** Creates a webhook, validated by `WebhookRulesService`. Only this method and `save` return its secret in plaintext. */
  async create(userId: string, wanted: CreateWebhookDto): Promise<CreatedWebhook> {
    return this.webhooks.manager.transaction(async (manager) => {
      await this.rules.lockWebhooksOf(userId, manager);
      return this.insert(userId, wanted, manager);
    });
  }

  async list(userId: string, { active, event, q, metadata, ...page }: ListWebhooksDto): Promise<Page<Webhook>> {
    const query = this.webhooks.createQueryBuilder('w').where('w.userId = :userId', { userId });
    if (active !== undefined) query.andWhere('w.active = :active', { active });
    if (event !== undefined) query.andWhere('w.events && :patterns::text[]', { patterns: patternsOf(event) });
    if (q !== undefined) query.andWhere(CONTAINS, { q });
    if (metadata !== undefined)
      query.andWhere('w.metadata @> all (:pairs::jsonb[])', { pairs: metadata.map(metadataOfPair) });
    return newestFirst(query, page, [userId, 'webhooks', { active, event, q, metadata }]);
  }

  async read(userId: string, key: WebhookKey): Promise<Webhook> {
    return found(await this.webhooks.findOneBy({ userId, ...key }));
  }

  /**
   * Changes the given fields, and nothing if all are as wanted. Deactivating cancels pending deliveries; a new secret takes effect
   * immediately.
   */
  async update(
    userId: string,
    id: string,
    { force, ...changes }: UpdateWebhookDto,
    conditions: Conditions = {},
  ): Promise<Webhook> {
    if (Object.values(changes).every((value) => value === undefined))
      throw invalid('body', messageFor.patchEmpty(SETTABLE_NAMES));
    const { externalId } = changes;
    return this.webhooks.manager.transaction(async (manager) => {
      if (externalId) await this.rules.lockWebhooksOf(userId, manager);
      const before = found(await lockedRow(manager, userId, { id }));
      requireConditions(before, conditions);
      requireKind(before.kind, changes, before);
      if (externalId && externalId !== before.externalId) await this.rules.refuseTaken(userId, externalId, manager);
      return this.change(before, changes, force, manager);
    });
  }

  /**
   * Creates the webhook with this external id, or changes it to the given fields and, for others, their defaults. An
   * existing webhook keeps `kind`, `secret`, `format`, `fields`, `headers` and `active` unless they are given; nothing changes if
   * all values are as wanted. Returns the secret only if the webhook is new.
   */
  async save(
    userId: string,
    externalId: string,
    wanted: WebhookDeclarationDto,
    conditions: Conditions = {},
  ): Promise<CreatedWebhook | { webhook: Webhook; secret?: undefined }> {
    return this.webhooks.manager.transaction(async (manager) => {
      await this.rules.lockWebhooksOf(userId, manager);
      const before = await lockedRow(manager, userId, { externalId });
      requireConditions(before, conditions);
      const kind = before?.kind ?? wanted.kind ?? 'push';
      if (wanted.kind !== undefined && wanted.kind !== kind) throw new ApiError('kind_mismatch', MESSAGES.kindStays);
      requireKind(kind, wanted, before ?? {});
      if (kind === 'push' && wanted.url === undefined) throw ApiError.invalid(URL_REQUIRED);
      if (!before) return this.insert(userId, { ...wanted, externalId }, manager);
      const declared = {
        ...withDefaults({ ...wanted, externalId }, true),
        headers: this.headers.replacement(before.headers, wanted.headers),
        // To declare an active webhook again does not reset its failures.
        active: wanted.active === before.active ? undefined : wanted.active,
      } as UpdateWebhookDto;
      return { webhook: await this.change(before, declared, wanted.force, manager) };
    });
  }

  /** Deletes a webhook and cancels its pending deliveries. Its delivery log is kept. Returns its id. */
  async remove(userId: string, key: WebhookKey, conditions: Conditions = {}): Promise<string> {
    return this.webhooks.manager.transaction(async (manager) => {
      const webhook = found(await lockedRow(manager, userId, key));
      requireConditions(webhook, conditions);
      await manager.delete(Webhook, { id: webhook.id });
      await this.lifecycle.deleted(manager, webhook.id);
      return webhook.id;
    });
  }

  private async insert(userId: string, wanted: CreateWebhookDto, manager: EntityManager): Promise<CreatedWebhook> {
    const { kind = 'push', externalId = null, active = true, secret = this.secrets.generate(), headers } = wanted;
    await this.rules.refuseTooMany(userId, manager);
    if (externalId !== null) await this.rules.refuseTaken(userId, externalId, manager);
    const { id } = this.clock.newId();
    const url = wanted.url === undefined ? null : this.rules.canonical(wanted.url);
    await manager.insert(Webhook, {
      ...(withDefaults(wanted) as QueryDeepPartialEntity<Webhook>),
      ...{ id, userId, kind, url },
      headers: url === null ? {} : this.headers.seal(id, url, headers ?? {}),
      secret: this.secrets.sealSigning(id, secret),
      active,
      disabledAt: active ? null : () => 'now()',
    });
    if (!active) await this.lifecycle.disabled(manager, id);
    return { webhook: await manager.findOneByOrFail(Webhook, { id }), secret };
  }

  private async change(
    before: Webhook,
    wanted: UpdateWebhookDto,
    force: boolean | undefined,
    manager: EntityManager,
  ): Promise<Webhook> {
    const { id } = before;
    const changes = this.differences(before, wanted);
    if (Object.keys(changes).length === 0) return before;
    await manager.update(Webhook, { id }, this.columns(before, changes, force));
    if (changes.active === false && before.active) await this.lifecycle.disabled(manager, id);
    if (changes.active === true && !before.active) await this.lifecycle.activated(manager, id);
    return manager.findOneByOrFail(Webhook, { id });
  }

  /** Returns the wanted fields that differ from the stored ones, so that a repeated request changes nothing. */
  private differences(before: Webhook, { headers, ...others }: UpdateWebhookDto): UpdateWebhookDto {
    const wanted = { ...others, ...(others.url !== undefined && { url: this.rules.canonical(others.url) }) };
    const current: Partial<Record<SettableName, unknown>> = {
      ...before,
      secret: others.secret !== undefined && this.rotation.isInForce(before, others.secret) ? others.secret : null,
      // Setting active to true resets the failures of an active webhook, also those of attempts under way.
      active: before.active ? null : false,
    };
    const changed = SETTABLE_NAMES.filter(
      (name) => name !== 'headers' && wanted[name] !== undefined && !isDeepStrictEqual(wanted[name], current[name]),
    ) as Exclude<SettableName, 'headers'>[];
    const fields = fieldsOf(wanted, changed);
    if (before.url === null) return fields;
    return { ...fields, ...this.headers.needed({ ...before, url: before.url }, wanted.url ?? before.url, headers) };
  }

  private columns(
    before: Webhook,
    { url = before.url ?? undefined, secret, headers, ...changes }: UpdateWebhookDto,
    force = false,
  ): QueryDeepPartialEntity<Webhook> {
    return {
      ...(changes as QueryDeepPartialEntity<Webhook>),
      ...(before.url !== null &&
        url !== undefined && { url, headers: this.headers.change({ ...before, url: before.url }, url, headers) }),
      ...(secret !== undefined && this.rotation.change(before, secret, { overlapSeconds: 0, force })),
      ...(changes.events && { subscribedAt: () => 'now()' }),
      ...(changes.active === false && before.active && { disabledAt: () => 'now()' }),
      ...(changes.active && {
        disabledReason: null,
        disabledAt: null,
        consecutiveFailures: 0,
        healthyAt: () => 'now()',
        failingSince: null,
        missedCount: null,
        toldFailing: false,
      }),
      updatedAt: () => 'now()',
    };
  }
}

const URL_REQUIRED: FieldError = { field: 'url', code: 'required', message: 'url is required, unless kind is pull' };

/** Not `ilike`, whose time grows with the product of both lengths. */
const CONTAINS = `(${['url', 'description', 'external_id']
  .map((name) => `position(lower(:q) in lower(w.${name})) > 0`)
  .join(' or ')})`;

const lockedRow = (manager: EntityManager, userId: string, key: WebhookKey): Promise<Webhook | null> =>
  manager.findOne(Webhook, { where: { userId, ...key }, lock: { mode: 'pessimistic_write' } });

function found(webhook: Webhook | null): Webhook {
  if (!webhook) throw new ApiError('not_found', MESSAGES.webhookNotFound);
  return webhook;
}
