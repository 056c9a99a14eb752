import { type ChangePosition, keyOf } from './change-position';
import type { ListedDelivery } from '../listed-columns';

/** A row of the log that has changed. */
export type ChangedRow = ListedDelivery & { isGivenUp: boolean };

/** One state of a row. */
export interface Change {
  row: ChangedRow;
  /** Behind this change. */
  position: ChangePosition;
}

/** What one question to PostgreSQL has answered: the changes between two positions. */
export interface Look {
  from: ChangePosition;
  changes: Change[];
  to: ChangePosition;
}

/** The changes of one user that this process has seen, as far as it remembers them. */
export class ChangeFeed {
  private looks: (Look & { at: number })[] = [];

  /** @param end up to where changes have been seen */
  constructor(
    public end: ChangePosition,
    private lookedAt: number,
  ) {}

  /** Appends what was seen behind `end`, at `now` in ms, and forgets what is older than `keepForMs`. */
  append(look: Look, now: number, keepForMs: number): void {
    this.looks = this.looks.filter(({ at }) => now - at < keepForMs);
    this.looks.push({ ...look, at: now });
    this.end = look.to;
    this.lookedAt = now;
  }

  /** How long ago it was brought up to date, in ms. */
  ageMs(now: number): number {
    return now - this.lookedAt;
  }

  /** The changes behind a position; null when it is not remembered. */
  after(position: ChangePosition): Change[] | null {
    const key = keyOf(position);
    if (key === keyOf(this.end)) return [];
    const [first = null, ...later] = this.looksFrom(key);
    if (first === null) return null;
    const given = keyOf(first.from) === key ? 0 : first.changes.findIndex((each) => keyOf(each.position) === key) + 1;
    return [...first.changes.slice(given), ...later.flatMap(({ changes }) => changes)];
  }

  /** The newest look is asked first: most who wait go on from there. */
  private looksFrom(key: string): Look[] {
    const first = this.looks.findLastIndex(
      ({ from, changes }) => keyOf(from) === key || changes.some(({ position }) => keyOf(position) === key),
    );
    return first < 0 ? [] : this.looks.slice(first);
  }
}

/** Some changes, in their order, and where to go on. */
export interface Changes {
  changes: Change[];
  next: ChangePosition;
}

/** The first of the changes that are wanted, up to `limit`. */
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
