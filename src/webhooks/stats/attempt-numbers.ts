import { percentileMs } from './duration-class';

/** Number of attempts with the same status, error and duration class. */
export interface AttemptCount {
  status: 'succeeded' | 'failed' | 'canceled';
  /** Empty if there was no error. */
  errorCode: string;
  /** 0 if there was no response. */
  durationClass: number;
  count: number;
}

export interface AttemptNumbers {
  succeeded: number;
  failed: number;
  canceled: number;
  /** Response times in ms, accurate to 20 %; null if there was no response. */
  p50Ms: number | null;
  p95Ms: number | null;
  byError: Record<string, number>;
}

export function numbersOf(counts: readonly AttemptCount[]): AttemptNumbers {
  const byStatus = { succeeded: 0, failed: 0, canceled: 0 };
  const byError = new Map<string, number>();
  const answers = new Map<number, number>();
  for (const { status, errorCode, durationClass, count } of counts) {
    byStatus[status] += count;
    if (errorCode !== '') add(byError, errorCode, count);
    if (durationClass > 0) add(answers, durationClass, count);
  }
  const errors = [...byError].filter(([, count]) => count > 0);
  return {
    ...byStatus,
    p50Ms: percentileMs(answers, 0.5),
    p95Ms: percentileMs(answers, 0.95),
    byError: Object.fromEntries(errors),
  };
}

function add<Key>(counts: Map<Key, number>, key: Key, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}
