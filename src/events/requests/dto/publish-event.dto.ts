import { ApiProperty } from '@nestjs/swagger';
import { EVENT_NAME, IDEMPOTENCY_KEY, USER_ID } from 'webhook-notification/catalogue';
import { ApiId, ApiSubject, ApiTime } from '../../../infrastructure/validation/api-field.decorator';
import type { PublishedEvent } from '../../events.service';
import { MAX_EVENTS } from '../publish-request';

/** Documents the body that `publish-request.ts` parses. */
export class CreateEventDto {
  /**
   * Name of the event.
   * @example follower.gained
   */
  @ApiProperty({ maxLength: 128, pattern: EVENT_NAME.source })
  event: string;

  /**
   * Data of the event: a JSON object that matches the schema of its type, see `GET /api/event-types`. Whole numbers beyond
   * ±9007199254740991 are refused: send larger ones as strings.
   * @example { "accountId": "0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90", "follower": { "id": "109302", "username": "ada@example.social" }, "followersCount": 1843, "observedAt": "2026-01-15T09:30:00.000Z" }
   */
  data: Record<string, unknown>;

  /**
   * Repeating the same key returns the first event instead of publishing another; 1 to 255 printable ASCII characters. The header
   * `Idempotency-Key` does the same.
   * @example follower-109302-gained-2026-01-15
   */
  @ApiProperty({ pattern: IDEMPOTENCY_KEY.source })
  idempotencyKey?: string;

  /**
   * User whose webhooks receive the event; yours by default. Another user, or null for all users, requires the scope
   * events:broadcast.
   */
  @ApiProperty({ pattern: USER_ID.source })
  userId?: string | null;

  /**
   * What the event is about: 1 to 128 visible characters, with spaces only between them. Receivers get it in the body and in a
   * header, and lists of events and deliveries are searched by it. Don't put personal data in it: it stands in headers and addresses.
   * @example invoice/123
   */
  @ApiSubject()
  subject?: string | null;
}

export class PublishedEventDto {
  /**
   * UUIDv7 of the event; receivers get it as `webhook-id`.
   * @example 0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90
   */
  @ApiId()
  id: string;

  /**
   * Name of the event.
   * @example follower.gained
   */
  event: string;

  /** When it was published. */
  @ApiTime()
  createdAt: string;

  /** User whose webhooks receive the event; null for all users. */
  userId: string | null;

  /** True when the idempotency key had already published the event. */
  duplicate: boolean;

  static from({ createdAt, ...event }: PublishedEvent): PublishedEventDto {
    return { ...event, createdAt: createdAt.toISOString() };
  }
}

/** Documents the body that `publish-request.ts` parses. */
export class CreateEventsDto {
  /** The events to publish, 1 to 100. */
  @ApiProperty({ type: [CreateEventDto], minItems: 1, maxItems: MAX_EVENTS })
  events: CreateEventDto[];
}
