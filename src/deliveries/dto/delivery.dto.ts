import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { timeOfId } from '../../plumbing/database/id-time';
import {
  type Delivery,
  DELIVERY_STATUSES,
  type DeliveryStatus,
  type HeaderMap,
  type Trigger,
  TRIGGERS,
  type Wait,
  WAITS,
} from '../delivery.entity';
import { ERROR_CODES } from '../delivery-error';
import type { ListedDelivery } from '../listed-columns';
import { ApiCount, ApiId, ApiTime } from '../../plumbing/validation/api-field.decorator';

const iso = (time: Date | null): string | null => time?.toISOString() ?? null;

export class DeliveryErrorDto {
  /** A stable code, see docs/errors.md. */
  @ApiProperty({ enum: ERROR_CODES })
  code: string;

  /**
   * What happened and what to do.
   * @example Your server answered 500 after 83 ms. Look into its log at this time.
   */
  message: string;
}

/** One attempt at sending an event to a webhook. */
export class DeliveryDto {
  /**
   * UUIDv7 of this attempt; the receiver gets it as `x-service-delivery`.
   * @example 0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90
   */
  @ApiId()
  id: string;

  /** The webhook it goes to. */
  @ApiId()
  webhookId: string;

  /** The event it carries; the same for all attempts. */
  @ApiId()
  eventId: string;

  /**
   * Name of the event.
   * @example follower.gained
   */
  event: string;

  /** 1 is the first; at most 4. */
  @ApiCount({ minimum: 1, maximum: 4 })
  attempt: number;

  /** Why it was sent: the event happened, someone asked for it again, or it is a test. */
  @ApiProperty({ enum: TRIGGERS })
  trigger: Trigger;

  /** `pending` until it was made; `canceled` when its webhook was disabled or deleted before. */
  @ApiProperty({ enum: DELIVERY_STATUSES })
  status: DeliveryStatus;

  /**
   * What it waits for while it is pending: `backoff`, the time of its retry; `slot`, that its webhook, its user or the
   * service has fewer attempts under way. Null: it is sent now, or was.
   */
  @ApiProperty({ enum: [...WAITS, null], nullable: true, type: String })
  waitsFor: Wait | null;

  /** Where it was sent, or where it would be sent now. */
  url: string;

  /** HTTP status of the receiver's answer; null: there was none. */
  @ApiCount({ nullable: true, minimum: 100, maximum: 999 })
  responseStatus: number | null;

  /** Milliseconds until the status line, or until the failure. */
  @ApiCount({ nullable: true })
  durationMs: number | null;

  /** Null unless it failed or was canceled. */
  @ApiProperty({ type: DeliveryErrorDto, nullable: true })
  error: DeliveryErrorDto | null;

  /** When the attempt was due. */
  @ApiTime()
  scheduledAt: string;

  /** When the request was made; null: none was made. */
  @ApiTime()
  attemptedAt: string | null;

  /** When the outcome was known. */
  @ApiTime()
  completedAt: string | null;

  /** When the next attempt is due; null on a failed row: given up. */
  @ApiTime()
  nextAttemptAt: string | null;

  /** When it was created: a first attempt together with its event. */
  @ApiTime()
  createdAt: string;

  static from(row: ListedDelivery): DeliveryDto {
    return {
      id: row.id,
      webhookId: row.webhookId,
      eventId: row.eventId,
      event: row.event,
      attempt: row.attempt,
      trigger: row.trigger,
      status: row.status,
      waitsFor: waitOf(row),
      url: row.url,
      responseStatus: row.responseStatus,
      durationMs: row.durationMs,
      error: row.errorCode ? { code: row.errorCode, message: row.errorMessage ?? '' } : null,
      scheduledAt: row.scheduledAt.toISOString(),
      attemptedAt: iso(row.attemptedAt),
      completedAt: iso(row.completedAt),
      nextAttemptAt: iso(row.nextAttemptAt),
      createdAt: timeOfId(row.id).toISOString(),
    };
  }
}

function waitOf({ status, parked, claimed, scheduledAt }: ListedDelivery): Wait | null {
  if (status !== 'pending' || claimed) return null;
  if (parked) return 'slot';
  return scheduledAt.getTime() > Date.now() ? 'backoff' : null;
}

const HEADERS_SCHEMA: ApiPropertyOptions = {
  type: 'object',
  additionalProperties: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
};

export class DeliveryRequestDto {
  /** Exactly what was sent, signatures included. */
  @ApiProperty(HEADERS_SCHEMA)
  headers: HeaderMap;

  /** The exact text that was signed and sent. */
  body: string;
}

export class DeliveryResponseDto {
  /** Lower-case names. */
  @ApiProperty(HEADERS_SCHEMA)
  headers: HeaderMap;

  /** The first 4 KiB. */
  body: string;

  /** Whether there was more than is shown. */
  bodyTruncated: boolean;
}

/** A delivery with what was sent and what came back. */
export class DeliveryDetailDto extends DeliveryDto {
  /** Null as long as nothing was sent. */
  @ApiProperty({ type: DeliveryRequestDto, nullable: true })
  request: DeliveryRequestDto | null;

  /** Null when there was no response. */
  @ApiProperty({ type: DeliveryResponseDto, nullable: true })
  response: DeliveryResponseDto | null;

  static with(row: Delivery, body: string): DeliveryDetailDto {
    return {
      ...DeliveryDto.from(row),
      request: row.requestHeaders && { headers: row.requestHeaders, body },
      response: row.responseHeaders && {
        headers: row.responseHeaders,
        body: row.responseBody ?? '',
        bodyTruncated: row.responseBodyTruncated ?? false,
      },
    };
  }
}
