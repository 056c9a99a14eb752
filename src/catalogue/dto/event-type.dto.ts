import type { EventType } from '../catalogue';

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

  static from({ name, description, schema, example }: EventType): EventTypeDto {
    return { name, description, schema: { ...schema }, example: { ...example } };
  }
}
