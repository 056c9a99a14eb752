import type { Event } from '../../../events/event.entity';
import { timeOfId } from '../../../plumbing/database/id-time';
import type { Delivery } from '../../delivery.entity';
import { DeliveryDto } from '../../dto/delivery.dto';
import { ApiId, ApiTime } from '../../../plumbing/validation/api-field.decorator';

export class EventDto {
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

  /** Whose webhooks it reaches; null: everybody's. */
  userId: string | null;

  /** The user who published it over HTTP; null: published in process, or the reader is neither its user nor its publisher. */
  publishedBy: string | null;

  /** W3C Trace Context of the request that published it; null: there was none, or as for `publishedBy`. */
  traceparent: string | null;

  /** When it was published. */
  @ApiTime()
  createdAt: string;

  /** What happened, as the receivers get it. */
  data: Record<string, unknown>;

  /** When all its deliveries had been made out; null: not yet. */
  @ApiTime()
  fannedOutAt: string | null;

  /** @param readerId the user who reads it */
  static from(event: Event, readerId: string): EventDto {
    const isConcerned = [event.userId, event.publisherId].includes(readerId);
    return {
      id: event.id,
      event: event.name,
      userId: event.userId,
      publishedBy: isConcerned ? event.publisherId : null,
      traceparent: isConcerned ? event.traceparent : null,
      createdAt: timeOfId(event.id).toISOString(),
      data: (JSON.parse(event.body) as { data: Record<string, unknown> }).data,
      fannedOutAt: event.fannedOutAt?.toISOString() ?? null,
    };
  }
}

/** An event and what became of it at the reader's own webhooks. */
export class EventDetailDto extends EventDto {
  /** The newest 250 deliveries to your own webhooks. */
  deliveries: DeliveryDto[];

  static with(event: Event, readerId: string, deliveries: readonly Delivery[]): EventDetailDto {
    return { ...EventDto.from(event, readerId), deliveries: deliveries.map(DeliveryDto.from) };
  }
}
