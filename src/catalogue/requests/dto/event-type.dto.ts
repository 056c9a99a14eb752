import { ApiProperty } from '@nestjs/swagger';
import { EVENT_SOURCES, type EventSource, type KnownEventType } from 'webhook-notification/catalogue';

export class EventTypeDto {
  /**
   * Name of the event.
   * @example follower.gained
   */
  name: string;

  /** When it happens. */
  description: string;

  /** JSON Schema (2020-12) of `data`. */
  schema: Record<string, unknown>;

  /** An example of `data`. */
  example: Record<string, unknown>;

  /** Where it comes from: the service, the setting EXTRA_EVENT_TYPES, a module or application, or the API. */
  @ApiProperty({ enum: EVENT_SOURCES })
  source: EventSource;

  /** The application that has declared it; null: none has. */
  application: string | null;

  static from({ name, description, schema, example, source, application }: KnownEventType): EventTypeDto {
    return { name, description, schema: { ...schema }, example: { ...example }, source, application };
  }
}

export class DeletedEventTypeDto {
  /** Name of the event type that is gone. */
  name: string;
}
