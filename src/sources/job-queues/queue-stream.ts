import type { JobFacts } from './job-memory';
import type { QueueEvent } from './queue-event';

/** How far a queue's event stream has been read. */
export interface Cursor {
  /** Everything up to here has been read. */
  position: string;
  /** Entries beyond it that have been read too, where the stream does not grow at its end alone. */
  seen: readonly string[];
}

/** What was found beyond a cursor. */
export interface StreamPage {
  events: QueueEvent[];
  next: Cursor;
  /** There is more, to be read at once. */
  isFull: boolean;
  /** What may have been lost before it was read, as a sentence; null: nothing. */
  loss: string | null;
}

/** BullMQ's event stream of one queue, wherever it lives. Every method throws while the store is away. */
export interface QueueStream {
  /** Names the queue among all, in positions and idempotency keys: printable ASCII. */
  readonly key: string;
  /** The end of the stream, from which on there is only news. A queue that does not exist yet begins there. */
  end(): Promise<Cursor>;
  read(cursor: Cursor): Promise<StreamPage>;
  /** What the queue still knows of these jobs. */
  facts(jobIds: readonly string[]): Promise<Map<string, JobFacts>>;
  /** Waits for news, at most a second. */
  wait(cursor: Cursor): Promise<void>;
  /** Ends a wait, and the connection. */
  close(): void;
}
