import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { standardSecret } from 'webhook-notification';
import { ApiTime } from '../../infrastructure/validation/api-field.decorator';
import { Optional } from '../../infrastructure/validation/optional.decorator';
import { IsWholeNumber } from '../../infrastructure/validation/whole-number.decorator';
import type { RotatedSecret } from '../secrets/secret-rotation.service';
import type { EventFormat } from '../formats/event-format';
import type { HeaderChanges } from '../headers/header-rules';
import type { EventFilter } from '../filter/event-filter';
import {
  IsDescription,
  IsEventPatterns,
  IsExternalId,
  IsFilter,
  IsFormat,
  IsHeaderChanges,
  IsHttpUrl,
  IsIdleSeconds,
  IsMaxPerSecond,
  IsMetadata,
  IsRetryDelaysMs,
  IsSecret,
  IsTimeoutMs,
} from './webhook-fields.decorator';

/** Changes to a webhook. Absent fields keep their values. */
export class UpdateWebhookDto {
  /**
   * The new URL. Pending deliveries are also sent to it.
   * @example https://example.com/hooks
   */
  @Optional()
  @IsHttpUrl()
  url?: string;

  /**
   * The complete new list of event names and patterns.
   * @example ["*"]
   */
  @Optional()
  @IsEventPatterns()
  events?: string[];

  /**
   * The new secret. It takes effect immediately.
   * @example correct horse battery staple
   */
  @Optional()
  @IsSecret()
  secret?: string;

  /**
   * A note for yourself, at most 256 characters; null clears it.
   * @example Staging
   */
  @IsDescription()
  description?: string | null;

  /** The complete new labels; `{}` clears them. */
  @IsMetadata()
  metadata?: Record<string, string>;

  /** The complete new conditions on the content of events; null removes the filter. Deliveries that exist stay. */
  @IsFilter()
  filter?: EventFilter | null;

  /**
   * Your own id for the webhook, unique among your webhooks; null clears it.
   * @example "billing:invoices"
   */
  @IsExternalId()
  externalId?: string | null;

  /** How the webhook receives events: as they are, as CloudEvents, or as messages for a chat; see docs/formats.md. */
  @IsFormat()
  format?: EventFormat;

  /**
   * Headers to set or, with null, to remove; others stay. Null removes all. A change of the origin of `url` returns 409 unless
   * the request sets or removes each header.
   */
  @IsHeaderChanges()
  headers?: HeaderChanges | null;

  /**
   * Deadline in ms of one attempt: 500 to the service's `DELIVERY_TIMEOUT_MS`, which null means. It holds from the next attempt
   * on.
   * @example 5000
   */
  @IsTimeoutMs()
  timeoutMs?: number | null;

  /**
   * The complete new delays in ms, one for each retry: at most the service's `MAX_RETRIES`. An empty list means no retries, null
   * the plan of the service. Attempts that begin from now on follow them.
   * @example [60000, 3600000]
   */
  @IsRetryDelaysMs()
  retryDelaysMs?: number[] | null;

  /**
   * Attempts a second that the webhook may receive, retries included: 0.1 to 1000. Null means no limit. It holds at once, also for
   * deliveries that wait.
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

  /** False cancels pending deliveries; true resets the failure count. */
  @Optional()
  @IsBoolean()
  active?: boolean;
}

const MAX_OVERLAP_SECONDS = 604_800;

export class RotateSecretDto {
  /**
   * The new secret: 8 to 256 printable characters. Generated if absent.
   * @example correct horse battery staple
   */
  @Optional()
  @IsSecret()
  secret?: string;

  /** How long deliveries also carry a signature of the old secret, in seconds: at most a week; 0 means not at all. */
  @ApiProperty({ type: 'integer', required: false, minimum: 0, maximum: MAX_OVERLAP_SECONDS, default: 86_400 })
  @Optional()
  @IsWholeNumber(0, MAX_OVERLAP_SECONDS)
  overlapSeconds: number = 86_400;
}

export class RotatedSecretDto {
  /**
   * The new signing secret. Store it: it is not shown again.
   * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0vMWGZh0Xq4=
   */
  secret: string;

  /**
   * The same secret as Standard Webhooks libraries take it: whsec_ and base64.
   * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0vMWGZh0Xq4=
   */
  standardSecret: string;

  /** Deliveries also carry a signature of the old secret until this time. */
  @ApiTime()
  previousSecretExpiresAt: string;

  static from({ secret, previousSecretExpiresAt }: RotatedSecret): RotatedSecretDto {
    return {
      secret,
      standardSecret: standardSecret(secret),
      previousSecretExpiresAt: previousSecretExpiresAt.toISOString(),
    };
  }
}
