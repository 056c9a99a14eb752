import { ApiProperty } from '@nestjs/swagger';
import type { Event } from '../../../events/event.entity';
import { timeOfId } from '../../../infrastructure/database/id-time';
import { PageQueryDto } from '../../../infrastructure/pagination/dto/page-query.dto';
import {
  ApiId,
  ApiTime,
  IsEventFilter,
  IsOptionalTime,
  IsSubjectFilter,
} from '../../../infrastructure/validation/api-field.decorator';
import type { Delivery } from '../../rows/delivery.entity';
import { DeliveryDto } from '../../dto/delivery.dto';

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

  /**
   * What the event is about; null when it was published without a subject.
   * @example invoice/123
   */
  subject: string | null;

  /** User whose webhooks receive the event; null for all users. */
  userId: string | null;

  /**
   * User who published it over HTTP; null when it was published in process, or when you are neither its user nor its publisher.
   */
  publishedBy: string | null;

  /** W3C Trace Context of its publication; null without a trace, or as for `publishedBy`. */
  traceparent: string | null;

  /** When it was published. */
  @ApiTime()
  createdAt: string;

  /** Data of the event, as receivers get it. */
  data: Record<string, unknown>;

  /** When all its deliveries had been created; null until then. */
  @ApiTime()
  fannedOutAt: string | null;

  /** @param readerId the user who reads it */
  static from(event: Event, readerId: string): EventDto {
    const isConcerned = [event.userId, event.publisherId].includes(readerId);
    return {
      id: event.id,
      event: event.name,
      subject: event.subject,
      userId: event.userId,
      publishedBy: isConcerned ? event.publisherId : null,
      traceparent: isConcerned ? event.traceparent : null,
      createdAt: timeOfId(event.id).toISOString(),
      data: (JSON.parse(event.body) as { data: Record<string, unknown> }).data,
      fannedOutAt: event.fannedOutAt?.toISOString() ?? null,
    };
  }
}

/** An event and its deliveries to the reader's own webhooks. */
export class EventDetailDto extends EventDto {
  /** The newest 250 deliveries to your own webhooks. */
  deliveries: DeliveryDto[];

  static with(event: Event, readerId: string, deliveries: readonly Delivery[]): EventDetailDto {
    return { ...EventDto.from(event, readerId), deliveries: deliveries.map(DeliveryDto.from) };
  }
}

/** Filters for events and their deliveries. */
export class EventQueryDto extends PageQueryDto {
  /** Only results for events with this name, such as follower.gained. */
  @IsEventFilter()
  event?: string;

  /**
   * Only results for events with exactly this subject, such as invoice/123. Searches the days since the service was upgraded to
   * version 1.0.
   */
  @IsSubjectFilter()
  subject?: string;

  /** Only results created at this time or later, such as 2026-01-15T09:30:00Z. */
  @IsOptionalTime()
  @ApiProperty({ type: String, format: 'date-time', required: false })
  since?: Date;

  /** Only results created before this time, such as 2026-01-16T09:30:00+01:00. */
  @IsOptionalTime()
  @ApiProperty({ type: String, format: 'date-time', required: false })
  until?: Date;
}
