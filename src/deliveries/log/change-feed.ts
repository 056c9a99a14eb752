import { type ChangePosition, keyOf } from './change-position';
import type { ListedDelivery } from '../rows/delivery.entity';

const KEPT_MS = 10_000;

export type ChangedRow = ListedDelivery & { isGivenUp: boolean };

export interface Change {
  row: ChangedRow;
  position: ChangePosition;
}

export interface Polled {
  from: ChangePosition;
  changes: Change[];
  to: ChangePosition;
}

/** The recent changes of one user's deliveries, as far as this process keeps them in memory. */
export class ChangeFeed {
  private polled: (Polled & { at: number })[] = [];

  constructor(
    public end: ChangePosition,
    private lookedAt: number,
  ) {}

  /** Appends the changes after `end`, read at `now` (in ms), and drops those older than 10 s. */
  append(polled: Polled, now: number): void {
    this.polled = this.polled.filter(({ at }) => now - at < KEPT_MS);
    this.polled.push({ ...polled, at: now });
    this.end = polled.to;
    this.lookedAt = now;
  }

  ageMs(now: number): number {
    return now - this.lookedAt;
  }

  /** Returns the changes after a position; null when the feed does not hold that position. */
  after(position: ChangePosition): Change[] | null {
    const key = keyOf(position);
    if (key === keyOf(this.end)) return [];
    const [first = null, ...later] = this.polledFrom(key);
    if (first === null) return null;
    const given = keyOf(first.from) === key ? 0 : first.changes.findIndex((each) => keyOf(each.position) === key) + 1;
    return [...first.changes.slice(given), ...later.flatMap(({ changes }) => changes)];
  }

  /** Searches from the newest poll, because most waiting requests continue from there. */
  private polledFrom(key: string): Polled[] {
    const first = this.polled.findLastIndex(
      ({ from, changes }) => keyOf(from) === key || changes.some(({ position }) => keyOf(position) === key),
    );
    return first < 0 ? [] : this.polled.slice(first);
  }
}

export interface Changes {
  changes: Change[];
  next: ChangePosition;
}

export function firstOf(
  changes: readonly Change[],
  to: ChangePosition,
  limit: number,
  isWanted: (change: Change) => boolean,
): Changes {
  const wanted: Change[] = [];
  for (const [i, change] of changes.entries()) {
    if (isWanted(change)) wanted.push(change);
    if (wanted.length === limit && i < changes.length - 1) return { changes: wanted, next: change.position };
  }
  return { changes: wanted, next: to };
}
