import { setTimeout as pause } from 'node:timers/promises';

export interface Interval {
  from: number;
  /** Infinity while it lasts. */
  until: number;
}

/** Parts that publishing requires. */
export type Part = 'postgres' | 'api';

/** When connections were torn and when a part was unavailable: all that the verdict on a run has to excuse. */
export class Chronicle {
  /** Attempts that were in flight in one of these may have been made twice. */
  readonly tears: (Interval & { what: string })[] = [];
  readonly absences: (Interval & { part: Part })[] = [];

  tear(what: string): () => void {
    return begin(this.tears, { what, from: Date.now(), until: Infinity });
  }

  absence(part: Part): () => void {
    return begin(this.absences, { part, from: Date.now(), until: Infinity });
  }
}

function begin<T extends Interval>(list: T[], interval: T): () => void {
  list.push(interval);
  return () => (interval.until = Math.min(interval.until, Date.now()));
}

/** The one place that waits a fixed time: the length of an outage is part of the fault, not a guess. */
export async function faultLasts(ms: number): Promise<void> {
  await pause(ms);
}
