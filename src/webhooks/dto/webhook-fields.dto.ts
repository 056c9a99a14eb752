import type { Type } from '@nestjs/common';
import { ApiProperty, OmitType } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsString,
  Matches,
  MaxLength,
  ValidateIf,
} from 'class-validator';
import { ApiError, invalid } from '../../infrastructure/errors/api-error';
import { IsDecimal, Optional, ParsedField, patternOf } from '../../infrastructure/validation/api-field.decorator';
import {
  MAX_RETRY_DELAY_MS,
  MAX_RETRY_DELAYS,
  MAX_TIMEOUT_MS,
  MIN_RETRY_DELAY_MS,
  MIN_TIMEOUT_MS,
  parseRetryDelays,
} from '../attempt-timing';
import { type EventFilter, parseFilter } from '../filter/event-filter';
import { type EventFormat, FORMATS } from '../formats/event-format';
import { FIELD_PATH, MAX_FIELDS, MAX_PATH, parseFieldPaths } from '../formats/field-paths';
import { MAX_METADATA, METADATA_NAME, METADATA_VALUE, parseMetadata } from '../metadata';
import { SETTABLE, type WebhookKind } from '../webhook-fields';
import {
  EVENT_PATTERN,
  Field,
  FILTER_EXAMPLE,
  IsExternalId,
  IsForce,
  IsHeaders,
  IsHttpUrl,
  IsKind,
  IsSecret,
  OrNull,
  WELL_FORMED,
  WholeNumberOrNull,
} from './webhook-fields.decorator';

/** The fields that owners set. `SETTABLE` says what follows from each. */
export class WebhookFieldsDto {
  /**
   * The new URL. Pending deliveries are also sent to it.
   * @example https://example.com/hooks
   */
  @Optional()
  @IsHttpUrl()
  url?: string;

  /**
   * The events to subscribe to: 1 to 50 event names, prefix patterns such as `follower.*`, or `*` for all events
   * except `webhook.failing` and `webhook.healthy`.
   * @example ["operation.complete", "operation.failed"]
   */
  @Field(
    {
      ...{ minItems: 1, maxItems: 50, uniqueItems: true },
      items: { type: 'string', maxLength: 128, pattern: EVENT_PATTERN.source },
    },
    IsArray(),
    ArrayMinSize(1, { message: 'Choose at least one event' }),
    ArrayMaxSize(50),
    ArrayUnique({ message: 'events must name each event only once' }),
    IsString({ each: true }),
    MaxLength(128, { each: true }),
  )
  events: string[];

  /**
   * Signing key: 8 to 256 printable characters. Generated if absent. After `whsec_` it must be base64 or base64url of 24 to 64 bytes.
   * @example correct horse battery staple
   */
  @IsSecret()
  secret?: string;

  /**
   * A note for yourself, at most 256 characters; null clears it.
   * @example Staging
   */
  @Field(
    { maxLength: 256, pattern: patternOf(WELL_FORMED) },
    OrNull(),
    IsString(),
    MaxLength(256),
    Matches(WELL_FORMED, { message: 'description must be well-formed text without NUL' }),
  )
  description?: string | null;

  /**
   * Labels for yourself, never sent to the receiver: at most 20 names with values of up to 200 characters. A change replaces all
   * labels; `{}` clears them.
   */
  @Field(
    {
      type: 'object',
      selfRequired: false,
      maxProperties: MAX_METADATA,
      propertyNames: { pattern: METADATA_NAME.source },
      additionalProperties: { type: 'string', maxLength: 200, pattern: patternOf(METADATA_VALUE) },
      example: { team: 'billing' },
    },
    ParsedField(parseMetadata),
  )
  metadata?: Record<string, string>;

  /** Conditions on the content of events, all of which must hold; null removes them. Existing deliveries stay. See docs/filters.md. */
  @Field(
    { type: 'object', selfRequired: false, nullable: true, additionalProperties: true, example: FILTER_EXAMPLE },
    ParsedField(filterOf),
  )
  filter?: EventFilter | null;

  /**
   * Your own id for the webhook, unique among your webhooks; null clears it.
   * @example "billing:invoices"
   */
  @IsExternalId()
  externalId?: string | null;

  /**
   * The body that the webhook receives: the event as it is, its data alone, the payload of Standard Webhooks, a CloudEvent, or a
   * message for a chat. Null means `native`. See docs/webhook-settings.md.
   */
  @Field({ enum: FORMATS, enumName: 'EventFormat', required: false, nullable: true }, ParsedField(formatOf))
  format?: EventFormat;

  /**
   * Headers that deliveries carry in addition to those of the service: at most 10, with up to 1024 visible ASCII characters
   * each. Their values are encrypted, never shown again, and sent to the origin of `url` only.
   */
  @IsHeaders(false, { 'x-api-key': 'k-4f2a91' })
  headers?: Readonly<Record<string, string>> | null;

  /**
   * Deadline of one attempt in ms: 500 to the service's `DELIVERY_TIMEOUT_MS`, which is also the deadline if this is null. A
   * change applies from the next attempt on.
   * @example 5000
   */
  @WholeNumberOrNull(MIN_TIMEOUT_MS, MAX_TIMEOUT_MS)
  timeoutMs?: number | null;

  /**
   * One delay in ms for each retry, varied at random: at most the service's `MAX_RETRIES`. An empty list means no retries, null
   * the schedule of the service. A change applies to attempts that begin later.
   * @example [60000, 3600000]
   */
  @Field(
    {
      type: 'array',
      maxItems: MAX_RETRY_DELAYS,
      items: { type: 'integer', minimum: MIN_RETRY_DELAY_MS, maximum: MAX_RETRY_DELAY_MS },
      nullable: true,
    },
    ParsedField(parseRetryDelays),
  )
  retryDelaysMs?: number[] | null;

  /**
   * Maximum attempts per second, retries included: 0.1 to 1000; null means no limit. A change applies at once, also to waiting
   * deliveries.
   * @example 5
   */
  @Field({ type: 'number', minimum: 0.1, maximum: 1000, nullable: true }, OrNull(), IsDecimal(0.1, 1000))
  maxPerSecond?: number | null;

  /**
   * Pull webhooks only: seconds without a lease after which the webhook is deleted, 60 to 604800; null means never.
   * @example 3600
   */
  @WholeNumberOrNull(60, 604_800)
  idleSeconds?: number | null;

  /**
   * Which fields of the data the webhook receives: at most 50 paths below `data`; null means all of the data, and an empty list none.
   * Not for formats of a chat. Filters see all of the data. See docs/webhook-settings.md.
   * @example ["id", "customer.id", "lines.sku"]
   */
  @Field(
    {
      type: 'array',
      maxItems: MAX_FIELDS,
      items: { type: 'string', maxLength: MAX_PATH, pattern: patternOf(FIELD_PATH) },
      nullable: true,
    },
    ParsedField(fieldPathsOf),
  )
  fields?: string[] | null;

  /** False cancels pending deliveries; true resets the failure count. */
  @Optional()
  @IsBoolean()
  active?: boolean;
}

/** The fields that a new webhook and a declared one have in common. */
class NewWebhookFieldsDto extends OmitType(WebhookFieldsDto, ['url', 'externalId', 'active']) {}

/** The cast allows declaring `format` again. */
export class CreateWebhookDto extends (NewWebhookFieldsDto as Type<Omit<NewWebhookFieldsDto, 'format'>>) {
  @ApiProperty({ type: 'string', default: SETTABLE.format.default })
  format?: EventFormat;

  /**
   * How events reach you: the service calls `url`, or you lease them; see docs/pulling.md. A pull webhook has no `url`, `headers`,
   * `timeoutMs` or `maxPerSecond`, and no format of a chat.
   */
  @IsKind('push')
  kind?: WebhookKind;

  /**
   * The URL that receives events: an absolute http: or https: URL of at most 2048 characters. Required, unless `kind` is `pull`.
   * @example https://example.com/hooks
   */
  @ValidateIf(({ kind, url }: CreateWebhookDto) => kind !== 'pull' || url !== undefined)
  @IsHttpUrl()
  url?: string;

  /** Whether the webhook receives events. */
  @Optional()
  @IsBoolean()
  active?: boolean = true;

  /**
   * Your own id for the webhook, unique among your webhooks.
   * @example "billing:invoices"
   */
  @IsExternalId()
  externalId?: string | null;
}

/**
 * A complete webhook. Absent fields get their defaults, except `kind`, `secret`, `format`, `fields`, `headers` and `active`,
 * which an existing webhook keeps.
 */
export class WebhookDeclarationDto extends NewWebhookFieldsDto {
  /** How events reach you. An existing webhook keeps its kind; a new one is pushed if this is absent. */
  @IsKind()
  kind?: WebhookKind;

  /**
   * The URL that receives events: an absolute http: or https: URL of at most 2048 characters. Required, unless the webhook is a
   * pull webhook.
   * @example https://example.com/hooks
   */
  @Optional()
  @IsHttpUrl()
  url?: string;

  /** Whether the webhook receives events; true for a new webhook if absent. */
  @Optional()
  @IsBoolean()
  active?: boolean;

  /** Set another secret even while a rotation overlaps: the older secret stops signing at once. Otherwise that returns 409. */
  @IsForce()
  force?: boolean = false;
}

/** @throws ApiError 400 that lists the errors */
function filterOf(value: unknown): EventFilter | null {
  const verdict = parseFilter(value);
  if (!verdict.ok) throw ApiError.invalid(...verdict.errors);
  return verdict.filter;
}

/** @throws ApiError 400 for anything but a format, or null */
function formatOf(value: unknown): EventFormat {
  const format = FORMATS.find((each) => each === (value ?? SETTABLE.format.default));
  if (!format) throw invalid('format', `format must be one of ${FORMATS.join(', ')}`);
  return format;
}

/** @throws ApiError 400 for anything but a list of paths, or null */
function fieldPathsOf(value: unknown): string[] | null {
  const parsed = parseFieldPaths(value);
  if ('error' in parsed) throw ApiError.invalid(parsed.error);
  return parsed.paths;
}
