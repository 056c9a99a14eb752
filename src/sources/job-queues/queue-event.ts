const KINDS = ['added', 'active', 'completed', 'failed', 'removed'] as const;

/** The kinds of entries that are read. The others (waiting, progress, drained …) lead to no event. */
export const QUEUE_EVENT_KINDS: readonly string[] = KINDS;

/** One entry of a queue's event stream, as BullMQ wrote it when it happened. */
export interface QueueEvent {
  /** Unique for ever, even when the stream starts again under the same name. */
  id: string;
  /** When it happened, by the clock of the queue's store. */
  at: Date;
  kind: (typeof KINDS)[number];
  jobId: string;
  /** Only an `added` entry knows it. */
  name: string | null;
  /** What the job returned, when it has completed. */
  result: unknown;
  /** Why it has failed for good; BullMQ writes `failed` only then. */
  failedReason: string;
}

/** Reads an entry of a stream; null when its kind is not read, or its time is beyond what a `Date` can hold. */
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
    result: parsed(returnvalue),
    failedReason: textOf(failedReason) ?? '',
  };
}

/** BullMQ writes what a job returned as JSON. For `undefined` it writes nothing usable. */
function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
