import { IsBoolean } from 'class-validator';
import { Optional } from '../../infrastructure/validation/optional.decorator';
import type { EventFormat } from '../formats/event-format';
import type { EventFilter } from '../filter/event-filter';
import {
  IsDescription,
  IsEventPatterns,
  IsExternalId,
  IsFilter,
  IsFormat,
  IsHeaders,
  IsHttpUrl,
  IsMaxPerSecond,
  IsMetadata,
  IsRetryDelaysMs,
  IsSecret,
  IsTimeoutMs,
} from './webhook-fields.decorator';

/** The fields that a new webhook and a declared one have in common. */
class WebhookFieldsDto {
  /**
   * The URL that receives events: an absolute http: or https: URL of at most 2048 characters.
   * @example https://example.com/hooks
   */
  @IsHttpUrl()
  url: string;

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
  @IsFormat()
  format?: EventFormat = 'native';

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
}

export class CreateWebhookDto extends WebhookFieldsDto {
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

/** A complete webhook. Absent fields get their defaults, except `secret` and `active`, which an existing webhook keeps. */
export class SaveWebhookDto extends WebhookFieldsDto {
  /** Whether the webhook receives events; true for a new webhook if absent. */
  @Optional()
  @IsBoolean()
  active?: boolean;
}
