import { ApiProperty } from '@nestjs/swagger';
import { standardSecret } from 'webhook-notification';
import { WebhookStatsDto } from '../stats/dto/stats.dto';
import { type EventFormat, FORMATS } from '../formats/event-format';
import { HIDDEN } from '../headers/header-rules';
import type { EventFilter } from '../filter/event-filter';
import { DISABLED_REASONS, type Webhook } from '../webhook.entity';
import { fieldsOf, SHOWN, WEBHOOK_KINDS, type WebhookKind } from '../webhook-fields';
import type { WebhookView } from '../webhook-views.service';
import { FILTER_EXAMPLE } from './webhook-fields.decorator';
import { ApiCount, ApiId, ApiTime } from '../../infrastructure/validation/api-field.decorator';

const ahead = (time: Date | null): Date | null => (time && time.getTime() > Date.now() ? time : null);

export class WebhookDto {
  /**
   * UUIDv7 of the webhook.
   * @example 0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90
   */
  @ApiId()
  id: string;

  /** How events reach you: the service calls `url`, or you lease them. */
  @ApiProperty({ enum: WEBHOOK_KINDS, enumName: 'WebhookKind' })
  kind: WebhookKind;

  /**
   * The URL that receives events, in canonical form; null for a pull webhook.
   * @example https://example.com/hooks
   */
  url: string | null;

  /**
   * The event names and patterns that the webhook subscribes to.
   * @example ["operation.complete", "operation.failed"]
   */
  events: string[];

  /**
   * Your note on the webhook.
   * @example Staging
   */
  description: string | null;

  /** Your labels by name. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: { team: 'billing' } })
  metadata: Record<string, string>;

  /**
   * Your own id for the webhook.
   * @example "billing:invoices"
   */
  externalId: string | null;

  /** Conditions on the content of events; null means all events that the webhook subscribes to. */
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, example: FILTER_EXAMPLE })
  filter: EventFilter | null;

  /** How the webhook receives events. */
  @ApiProperty({ enum: FORMATS, enumName: 'EventFormat' })
  format: EventFormat;

  /**
   * Paths of the fields of `data` that the webhook receives; null means all of the data.
   * @example ["id", "customer.id", "lines.sku"]
   */
  @ApiProperty({ type: [String], nullable: true })
  fields: string[] | null;

  /** Your headers by name. Their values are never shown. */
  @ApiProperty({ type: 'object', additionalProperties: true, example: { 'x-api-key': HIDDEN } })
  headers: Record<string, string>;

  /**
   * Your deadline of one attempt in ms; null means that of the service. The shorter one applies.
   * @example 5000
   */
  @ApiProperty({ type: 'integer', nullable: true })
  timeoutMs: number | null;

  /**
   * Your delays in ms, one for each retry; null means the schedule of the service, which also limits the number of retries.
   * @example [60000, 3600000]
   */
  @ApiProperty({ type: 'array', items: { type: 'integer' }, nullable: true })
  retryDelaysMs: number[] | null;

  /**
   * Maximum attempts per second, tests not counted; null means no limit.
   * @example 5
   */
  maxPerSecond: number | null;

  /**
   * Pull webhooks only: seconds without a lease after which the webhook is deleted; null means never.
   * @example 3600
   */
  @ApiProperty({ type: 'integer', nullable: true })
  idleSeconds: number | null;

  /** When a consumer last polled the pull webhook, accurate to a second; null if none has. */
  @ApiTime()
  lastLeasedAt: string | null;

  /** Name of the access token that it used; null for a JWT or `BOOTSTRAP_TOKEN`. */
  lastLeasedBy: string | null;

  /** Whether the webhook receives events. */
  active: boolean;

  /** Why the service disabled the webhook: it kept failing, its receiver returned 410, or its test receiver has expired. */
  @ApiProperty({ enum: DISABLED_REASONS, enumName: 'DisabledReason', nullable: true })
  disabledReason: string | null;

  /** When the webhook became inactive; null while it is active. */
  @ApiTime()
  disabledAt: string | null;

  /** Number of consecutive events that ran out of retries. */
  @ApiCount()
  consecutiveFailures: number;

  /**
   * When the service will disable the webhook unless a delivery succeeds before; null while too few events in a row have
   * run out of retries.
   */
  @ApiTime()
  disablesAt: string | null;

  /** When an attempt last succeeded, excluding test deliveries; null if none is on record. */
  @ApiTime()
  lastSuccessAt: string | null;

  /** When an attempt last failed, excluding test deliveries; null if none is on record. */
  @ApiTime()
  lastFailureAt: string | null;

  /** When the secret was last replaced; null if it never was, or only by a version before 0.3. */
  @ApiTime()
  secretRotatedAt: string | null;

  /** When the secret from before the last rotation stops signing deliveries; null if it no longer does. */
  @ApiTime()
  previousSecretExpiresAt: string | null;

  /** When the webhook was created. */
  @ApiTime()
  createdAt: string;

  /** When the webhook was last changed. */
  @ApiTime()
  updatedAt: string;

  /** Statistics of the last 24 hours; only with `include=stats`. */
  @ApiProperty({ type: WebhookStatsDto, required: false })
  stats?: WebhookStatsDto;

  static from({ webhook, lastSuccessAt, lastFailureAt, disablesAt, stats }: WebhookView): WebhookDto {
    // Fails to compile when the response lacks a field that owners set.
    const { active, ...set } = fieldsOf(webhook, SHOWN satisfies readonly (keyof WebhookDto)[]);
    return {
      id: webhook.id,
      kind: webhook.kind,
      ...set,
      headers: Object.fromEntries(Object.keys(webhook.headers).map((name) => [name, HIDDEN])),
      lastLeasedAt: webhook.lastLeasedAt?.toISOString() ?? null,
      lastLeasedBy: webhook.lastLeasedBy,
      active,
      disabledReason: webhook.disabledReason,
      disabledAt: webhook.disabledAt?.toISOString() ?? null,
      consecutiveFailures: webhook.consecutiveFailures,
      disablesAt: disablesAt?.toISOString() ?? null,
      lastSuccessAt: lastSuccessAt?.toISOString() ?? null,
      lastFailureAt: lastFailureAt?.toISOString() ?? null,
      secretRotatedAt: webhook.secretRotatedAt?.toISOString() ?? null,
      previousSecretExpiresAt: ahead(webhook.previousSecretExpiresAt)?.toISOString() ?? null,
      createdAt: webhook.createdAt.toISOString(),
      updatedAt: webhook.updatedAt.toISOString(),
      ...(stats && { stats: WebhookStatsDto.of(stats) }),
    };
  }
}

export class CreatedWebhookDto extends WebhookDto {
  /**
   * The signing secret. Store it: it is not shown again.
   * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0vMWGZh0Xq4=
   */
  secret: string;

  /**
   * The same secret as Standard Webhooks libraries expect it: whsec_ and base64.
   * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0vMWGZh0Xq4=
   */
  standardSecret: string;

  static with(webhook: Webhook, secret: string): CreatedWebhookDto {
    return {
      ...WebhookDto.from({ webhook, lastSuccessAt: null, lastFailureAt: null, disablesAt: null }),
      secret,
      standardSecret: standardSecret(secret),
    };
  }
}

export class DeletedWebhookDto {
  /** Id of the deleted webhook. */
  @ApiId()
  id: string;
}
