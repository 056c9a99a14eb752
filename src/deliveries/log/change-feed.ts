import { type ChangePosition, keyOf } from './change-position';
import type { ListedDelivery } from '../listed-columns';

const KEPT_MS = 10_000;

/** A changed row of the delivery log. */
export type ChangedRow = ListedDelivery & { isGivenUp: boolean };

/** One state of a row. */
export interface Change {
  row: ChangedRow;
  /** The position right after this change. */
  position: ChangePosition;
}

/** The result of one query: the changes between two positions. */
export interface Look {
  from: ChangePosition;
  changes: Change[];
  to: ChangePosition;
}

/** The recent changes of one user's deliveries, as far as this process keeps them in memory. */
export class ChangeFeed {
  private looks: (Look & { at: number })[] = [];

  /** @param end the position up to which changes have been read */
  constructor(
    public end: ChangePosition,
    private lookedAt: number,
  ) {}

  /** Appends the changes after `end`, read at `now` (in ms), and drops those older than 10 s. */
  append(look: Look, now: number): void {
    this.looks = this.looks.filter(({ at }) => now - at < KEPT_MS);
    this.looks.push({ ...look, at: now });
    this.end = look.to;
    this.lookedAt = now;
  }

  /** Returns the time since the last update in ms. */
  ageMs(now: number): number {
    return now - this.lookedAt;
  }

  /** Returns the changes after a position; null when the feed does not hold that position. */
  after(position: ChangePosition): Change[] | null {
    const key = keyOf(position);
    if (key === keyOf(this.end)) return [];
    const [first = null, ...later] = this.looksFrom(key);
    if (first === null) return null;
    const given = keyOf(first.from) === key ? 0 : first.changes.findIndex((each) => keyOf(each.position) === key) + 1;
    return [...first.changes.slice(given), ...later.flatMap(({ changes }) => changes)];
  }

  /** Searches from the newest look, because most waiting requests continue from there. */
  private looksFrom(key: string): Look[] {
    const first = this.looks.findLastIndex(
      ({ from, changes }) => keyOf(from) === key || changes.some(({ position }) => keyOf(position) === key),
    );
    return first < 0 ? [] : this.looks.slice(first);
  }
}

/** Changes in order, and the position to continue from. */
export interface Changes {
  changes: Change[];
  next: ChangePosition;
}

/** Returns the first matching changes, up to `limit`. */
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
