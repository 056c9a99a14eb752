import type { JobFacts } from './job-memory';
import type { QueueEvent } from './queue-event';

/** How far a queue's event stream has been read. */
export interface Cursor {
  /** Everything up to here has been read. */
  position: string;
  /** Entries beyond it that have been read too, where entries can also appear before the end of the stream. */
  seen: readonly string[];
}

/** What was found beyond a cursor. */
export interface StreamPage {
  events: QueueEvent[];
  next: Cursor;
  /** There is more to read at once. */
  isFull: boolean;
  /** A sentence about entries that may have been lost before they were read; null: none. */
  loss: string | null;
}

/** BullMQ's event stream of one queue, on Redis or in PostgreSQL. Every method throws while the store is away. */
export interface QueueStream {
  /** The unique name of the queue in positions and idempotency keys: printable ASCII. */
  readonly key: string;
  /** The present end of the stream. For a queue that does not exist yet it is the beginning. */
  end(): Promise<Cursor>;
  /** The next page beyond a cursor. */
  read(cursor: Cursor): Promise<StreamPage>;
  /** What the queue still knows of these jobs, by id; null for an id whose key holds no job. */
  facts(jobIds: readonly string[]): Promise<Map<string, JobFacts | null>>;
  /** Waits for new entries, at most a second. */
  wait(cursor: Cursor): Promise<void>;
  /** Ends a wait and the connection. */
  close(): void;
}
