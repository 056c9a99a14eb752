const KINDS = ['added', 'active', 'completed', 'failed', 'removed'] as const;

/** What the streams are asked for; the rest (waiting, progress, drained …) leads to no event. */
export const QUEUE_EVENT_KINDS: readonly string[] = KINDS;

/** One entry of a queue's event stream, as BullMQ wrote it when it happened. */
export interface QueueEvent {
  /** Names the entry once and for all, in this stream and in one that begins anew under the same name. */
  id: string;
  /** By the clock of the queue's store. */
  at: Date;
  kind: (typeof KINDS)[number];
  jobId: string;
  /** Known of a job that was added. */
  name: string | null;
  /** What the job returned, when it has completed. */
  result: unknown;
  /** Why it has failed for good; BullMQ writes `failed` only then. */
  failedReason: string;
}

/** Reads an entry of a stream; null when it is of no interest. */
export function readQueueEvent(id: string, at: Date, fields: Readonly<Record<string, unknown>>): QueueEvent | null {
  const { event, jobId, name, returnvalue, failedReason } = fields;
  const kind = KINDS.find((known) => known === event);
  if (kind === undefined || typeof jobId !== 'string') return null;
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

/** BullMQ writes what a job returned as JSON, and nothing usable for `undefined`. */
function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
