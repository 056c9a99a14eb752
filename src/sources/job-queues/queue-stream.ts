import type { JobFacts } from './job-memory';
import type { QueueEvent } from './queue-event';

export interface Cursor {
  position: string;
  /** Entries beyond it that have also been read, in stores where entries can appear before the end of the stream. */
  seen: readonly string[];
}

export interface StreamPage {
  events: QueueEvent[];
  next: Cursor;
  /** A sentence about entries that may have been lost before they were read; null if there are none. */
  loss: string | null;
}

/** BullMQ's event stream of one queue, on Redis or in PostgreSQL. Every method throws while the store is unavailable. */
export interface QueueStream {
  /** The unique name of the queue in positions and idempotency keys: printable ASCII. */
  readonly key: string;
  /** Returns the current end of the stream, or the beginning for a queue that does not exist yet. */
  end(): Promise<Cursor>;
  read(cursor: Cursor): Promise<StreamPage>;
  /** Returns the facts that the queue still has about these jobs, by id; null for an id whose key is not a job. */
  facts(jobIds: readonly string[]): Promise<Map<string, JobFacts | null>>;
  /** Waits for entries beyond the cursor, at most a second. */
  wait(cursor: Cursor): Promise<void>;
  close(): void;
}
