import { type CursorScope, encodeCursor } from './cursor';

/** One page of a list. The answer has `items` as `data`, and `nextCursor` beside it. */
export class Page<T> {
  private constructor(
    readonly items: readonly T[],
    /** Null on the last page. */
    readonly nextCursor: string | null,
  ) {}

  /** Makes a page of at most `limit` items from up to `limit + 1` rows. An extra row means that a next page exists. */
  static of<T extends { id: string }>(rows: readonly T[], limit: number, scope: CursorScope): Page<T> {
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    return new Page(items, last && rows.length > limit ? encodeCursor(last.id, scope) : null);
  }

  /** The same page with transformed items. */
  map<U>(transform: (item: T) => U): Page<U> {
    return new Page(this.items.map(transform), this.nextCursor);
  }
}
