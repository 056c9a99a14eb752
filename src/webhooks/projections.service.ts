import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { TimeSlices } from '../infrastructure/concurrency/time-slices.timer';
import { wantedFields } from './formats/field-paths';
import { projectedBody } from './formats/projection';

/** Of bodies in memory, in characters. */
const MAX_CHARACTERS = 8 * 1024 * 1024;
const SLICE_MS = 5;

/** Makes the bodies of webhooks with `fields`: once for an event and a list of paths, and in slices of time. */
@Injectable()
export class ProjectionsService {
  private readonly logger = new Logger(ProjectionsService.name);
  private readonly made = new LRUCache<string, string>({ maxSize: MAX_CHARACTERS });
  private readonly slices = new TimeSlices(SLICE_MS);

  /** Returns the event with a body of only these fields; null when that cannot be made. */
  async of<Event extends { eventId: string; body: string }>(
    event: Event,
    fields: readonly string[],
  ): Promise<Event | null> {
    const key = [event.eventId, ...fields].join('\0');
    if (!this.made.has(key)) await this.slices.next();
    try {
      // Another attempt may have made it meanwhile.
      const body = this.made.get(key) ?? projectedBody(event.body, wantedFields(fields));
      this.made.set(key, body, { size: key.length + body.length });
      return { ...event, body };
    } catch (error) {
      this.logger.error(`Selecting fields of the event ${event.eventId} failed: ${String(error)}`);
      return null;
    }
  }
}
