const KINDS = ['added', 'active', 'completed', 'failed', 'removed'] as const;

/** The kinds of entries that are read. The others (waiting, progress, drained …) produce no event. */
export const QUEUE_EVENT_KINDS: readonly string[] = KINDS;

/** One entry of a queue's event stream, as BullMQ wrote it when it happened. */
export interface QueueEvent {
  /** Unique forever, even when the stream restarts under the same name. */
  id: string;
  /** When it happened, by the clock of the queue's store. */
  at: Date;
  kind: (typeof KINDS)[number];
  jobId: string;
  /** Only `added` entries contain it. */
  name: string | null;
  result: unknown;
  /** Why the job has finally failed; BullMQ writes `failed` only then. */
  failedReason: string;
}

/** Parses an entry of a stream; null if its kind is not read, or its time is out of range for a `Date`. */
export function readQueueEvent(id: string, at: Date, fields: Readonly<Record<string, unknown>>): QueueEvent | null {
  const { event, jobId, name, returnvalue, failedReason } = fields;
  const kind = KINDS.find((known) => known === event);
  if (kind === undefined || typeof jobId !== 'string' || Number.isNaN(at.getTime())) return null;
  return {
    id,
    at,
    kind,
    jobId,
    name: textOf(name),
    result: parsedJson(returnvalue),
    failedReason: textOf(failedReason) ?? '',
  };
}

/** Parses JSON of BullMQ; null if it is invalid, which BullMQ writes for the return value `undefined`. */
export function parsedJson(text: unknown): unknown {
  if (typeof text !== 'string') return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
