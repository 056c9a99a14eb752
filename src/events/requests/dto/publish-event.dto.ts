import { ApiProperty } from '@nestjs/swagger';
import { EVENT_NAME, IDEMPOTENCY_KEY, USER_ID } from 'webhook-notification/catalogue';
import type { PublishedEvent } from '../../events.service';
import { ApiId, ApiTime } from '../../../plumbing/validation/api-field.decorator';

/** Documents the body that `publish-request.ts` reads. */
export class PublishEventDto {
  /**
   * Name of the event.
   * @example follower.gained
   */
  @ApiProperty({ maxLength: 128, pattern: EVENT_NAME.source })
  event: string;

  /**
   * What happened: a JSON object that fits the schema of the event, see `GET /api/event-types`.
   * @example { "accountId": "0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90", "follower": { "id": "109302", "username": "ada@example.social" }, "followersCount": 1843, "observedAt": "2026-01-15T09:30:00.000Z" }
   */
  data: Record<string, unknown>;

  /**
   * A repeat with the same key answers the first event instead of publishing another; 1 to 255 printable ASCII
   * characters. The header `Idempotency-Key` does the same.
   * @example follower-109302-gained-2026-01-15
   */
  @ApiProperty({ pattern: IDEMPOTENCY_KEY.source })
  idempotencyKey?: string;

  /** Whose webhooks get it; absent: yours. Another user, or null for everybody, takes the scope events:broadcast. */
  @ApiProperty({ pattern: USER_ID.source })
  userId?: string | null;
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

  /** Whose webhooks get it; null: everybody's. */
  userId: string | null;

  /** True when the idempotency key had already published it. */
  duplicate: boolean;

  static from({ createdAt, ...event }: PublishedEvent): PublishedEventDto {
    return { ...event, createdAt: createdAt.toISOString() };
  }
}
