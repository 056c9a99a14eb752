import { type CursorScope, encodeCursor } from './cursor';

/** One page of a list. The response has `items` as `data`, next to `nextCursor`. */
export class Page<T> {
  private constructor(
    readonly items: readonly T[],
    /** Null on the last page. */
    readonly nextCursor: string | null,
  ) {}

  /**
   * Creates a page of at most `limit` items from up to `limit + 1` rows. An extra row means that a next page exists.
   * @param lookedUpTo the id after which the next page continues even without an extra row
   */
  static of<T extends { id: string }>(
    rows: readonly T[],
    limit: number,
    scope: CursorScope,
    lookedUpTo: string | null = null,
  ): Page<T> {
    const items = rows.slice(0, limit);
    const last = rows.length > limit ? (items.at(-1)?.id ?? null) : lookedUpTo;
    return new Page(items, last === null ? null : encodeCursor(last, scope));
  }

  /** Creates a page of a list without a last page, with the cursor at which to continue. */
  static endless<T>(items: readonly T[], nextCursor: string): Page<T> {
    return new Page(items, nextCursor);
  }

  /** Returns the same page with transformed items. */
  map<U>(transform: (item: T) => U): Page<U> {
    return new Page(this.items.map(transform), this.nextCursor);
  }
}
