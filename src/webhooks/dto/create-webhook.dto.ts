import { IsBoolean, ValidateIf } from 'class-validator';
import { Optional } from '../../infrastructure/validation/optional.decorator';
import type { EventFormat } from '../formats/event-format';
import type { EventFilter } from '../filter/event-filter';
import type { WebhookKind } from '../webhook-kind';
import {
  IsDescription,
  IsEventPatterns,
  IsExternalId,
  IsFilter,
  IsFormat,
  IsHeaders,
  IsHttpUrl,
  IsIdleSeconds,
  IsKind,
  IsMaxPerSecond,
  IsMetadata,
  IsRetryDelaysMs,
  IsSecret,
  IsTimeoutMs,
} from './webhook-fields.decorator';

/** The fields that a new webhook and a declared one have in common. */
class WebhookFieldsDto {
  /**
   * The events to subscribe to: 1 to 50 event names, prefix patterns such as `follower.*`, or `*` for all events
   * except `webhook.failing` and `webhook.healthy`.
   * @example ["operation.complete", "operation.failed"]
   */
  @IsEventPatterns()
  events: string[];

  /**
   * Signing key: 8 to 256 printable characters. Generated if absent.
   * @example correct horse battery staple
   */
  @Optional()
  @IsSecret()
  secret?: string;

  /**
   * A note for yourself, at most 256 characters.
   * @example Staging
   */
  @IsDescription()
  description?: string | null;

  /** Labels for yourself, never sent to the receiver: at most 20 names with values of up to 200 characters. */
  @IsMetadata()
  metadata?: Record<string, string>;

  /** Conditions on the content of events, which must all hold; see docs/filters.md. Null: every event. */
  @IsFilter()
  filter?: EventFilter | null;

  /** How the webhook receives events: as they are, as CloudEvents, or as messages for a chat; see docs/formats.md. */
  @IsFormat('native')
  format?: EventFormat;

  /**
   * Headers that deliveries carry besides those of the service: at most 10, with up to 1024 visible ASCII characters each. Their
   * values are encrypted, never shown again, and sent to the origin of `url` only.
   */
  @IsHeaders()
  headers?: Readonly<Record<string, string>> | null;

  /**
   * Deadline in ms of one attempt: 500 to the service's `DELIVERY_TIMEOUT_MS`, which null means.
   * @example 5000
   */
  @IsTimeoutMs()
  timeoutMs?: number | null;

  /**
   * A delay in ms for each retry: at most the service's `MAX_RETRIES`, each varied at random. An empty list means no retries,
   * null the plan of the service.
   * @example [60000, 3600000]
   */
  @IsRetryDelaysMs()
  retryDelaysMs?: number[] | null;

  /**
   * Attempts a second that the webhook may receive, retries included: 0.1 to 1000. Null means no limit.
   * @example 5
   */
  @IsMaxPerSecond()
  maxPerSecond?: number | null;

  /**
   * Of a pull webhook: it is deleted when nobody has leased from it for so many seconds, 60 to 604800. Null means never.
   * @example 3600
   */
  @IsIdleSeconds()
  idleSeconds?: number | null;
}

export class CreateWebhookDto extends WebhookFieldsDto {
  /**
   * How events reach you: the service calls `url`, or you lease them; see docs/pulling.md. A pull webhook has no `url`, `headers`,
   * `format`, `timeoutMs` or `maxPerSecond`.
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

/** A complete webhook. Absent fields get their defaults, except `kind`, `secret`, `headers` and `active`, which an existing webhook
 * keeps. */
export class SaveWebhookDto extends WebhookFieldsDto {
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
}
