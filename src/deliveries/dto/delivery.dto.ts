import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { type EventFormat, FORMATS } from '../../webhooks/formats/event-format';
import { timeOfId } from '../../infrastructure/database/id-time';
import {
  type Delivery,
  DELIVERY_STATUSES,
  type DeliveryStatus,
  type HeaderMap,
  type ListedDelivery,
  type Trigger,
  TRIGGERS,
} from '../rows/delivery.entity';
import { ERROR_CODES } from '../rows/delivery-error';
import { asShown } from '../rows/stopping';
import { type Wait, waitOf, WAITS } from '../rows/waits';
import { ApiCount, ApiId, ApiTime } from '../../infrastructure/validation/api-field.decorator';

const iso = (time: Date | null): string | null => time?.toISOString() ?? null;

export class DeliveryErrorDto {
  /** A stable code; see docs/errors.md. */
  @ApiProperty({ enum: ERROR_CODES })
  code: string;

  /**
   * What happened and how to fix it.
   * @example "Your server answered 500 after 83 ms. Look into its log at this time."
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

  /** Id of the webhook. */
  @ApiId()
  webhookId: string;

  /** Id of the event; the same for all attempts. */
  @ApiId()
  eventId: string;

  /**
   * Name of the event.
   * @example follower.gained
   */
  event: string;

  /**
   * What the event is about; null when it was published without a subject.
   * @example invoice/123
   */
  subject: string | null;

  /** Attempt number, from 1 to 4. */
  @ApiCount({ minimum: 1, maximum: 4 })
  attempt: number;

  /** Why it is sent: the event was published, a user requested a redelivery, or it is a test. */
  @ApiProperty({ enum: TRIGGERS })
  trigger: Trigger;

  /** `pending` until the attempt completes; `canceled` when the webhook was disabled or deleted first. */
  @ApiProperty({ enum: DELIVERY_STATUSES })
  status: DeliveryStatus;

  /**
   * Why a pending delivery waits: `backoff` until its retry is due, `slot` until its webhook, its user or the service has fewer
   * attempts in flight, `rate` until the `maxPerSecond` of its webhook permits it, `proxy` until the egress proxy of the service
   * works, `dns` until its name servers answer, `operator` until its operator has repaired it, `consumer` until a consumer of a pull
   * webhook leases it. Null when it is being sent, is leased or has completed.
   */
  @ApiProperty({ enum: WAITS, enumName: 'WaitReason', nullable: true })
  waitsFor: Wait | null;

  /** The url that it was sent to, or would be sent to now; null for a pull webhook. */
  url: string | null;

  /** HTTP status of the response; null when there was none. */
  @ApiCount({ nullable: true, minimum: 100, maximum: 999 })
  responseStatus: number | null;

  /** Milliseconds until the status line arrived or the request failed; for a pull webhook from lease to acknowledgement. */
  @ApiCount({ nullable: true })
  durationMs: number | null;

  /** Null unless the delivery failed, was canceled, or waits because the service failed (`proxy_failed`, `dns_failed`, `service_failed`). */
  @ApiProperty({ type: DeliveryErrorDto, nullable: true })
  error: DeliveryErrorDto | null;

  /** When the attempt was due. */
  @ApiTime()
  scheduledAt: string;

  /** When the request was made; null when none was made. */
  @ApiTime()
  attemptedAt: string | null;

  /** When the outcome became known. */
  @ApiTime()
  completedAt: string | null;

  /** When the next attempt is due. Null on a failed delivery means that it is not retried. */
  @ApiTime()
  nextAttemptAt: string | null;

  /** When the delivery was created; for a first attempt, when its event was created. */
  @ApiTime()
  createdAt: string;

  static from(stored: ListedDelivery): DeliveryDto {
    const row = asShown(stored);
    return {
      id: row.id,
      webhookId: row.webhookId,
      eventId: row.eventId,
      event: row.event,
      subject: row.subject,
      attempt: row.attempt,
      trigger: row.trigger,
      status: row.status,
      waitsFor: waitOf(row, Date.now()),
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

const HEADERS_SCHEMA: ApiPropertyOptions = {
  type: 'object',
  // A string, or a list of strings. Generators of Java and Go have no type for that.
  additionalProperties: true,
};

export class SentRequestDto {
  /** The exact headers that were sent, including the signatures. */
  @ApiProperty(HEADERS_SCHEMA)
  headers: HeaderMap;

  /** The exact body that was signed and sent. */
  body: string;

  /** The format of the body, unless it is `native`. */
  @ApiProperty({ enum: FORMATS, enumName: 'EventFormat', required: false })
  format?: EventFormat;
}

export class ReceivedResponseDto {
  /** Header names are in lower case. */
  @ApiProperty(HEADERS_SCHEMA)
  headers: HeaderMap;

  /** The first 4 KiB of the response body. */
  body: string;

  /** Whether the response body was longer than shown. */
  bodyTruncated: boolean;
}

/** A delivery with its request and response. */
export class DeliveryDetailDto extends DeliveryDto {
  /** Null when no request has been sent. */
  @ApiProperty({ type: SentRequestDto, nullable: true })
  request: SentRequestDto | null;

  /** Null when there was no response. */
  @ApiProperty({ type: ReceivedResponseDto, nullable: true })
  response: ReceivedResponseDto | null;

  static with(row: Delivery, body: string): DeliveryDetailDto {
    return {
      ...DeliveryDto.from(row),
      request: row.requestHeaders && {
        headers: row.requestHeaders,
        body: row.requestBody ?? body,
        ...(row.format && { format: row.format }),
      },
      response: row.responseHeaders && {
        headers: row.responseHeaders,
        body: row.responseBody ?? '',
        bodyTruncated: row.responseBodyTruncated ?? false,
      },
    };
  }
}
