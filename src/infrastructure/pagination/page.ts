import { lowestIdOf } from '../database/id-time';
import { invalidCursor, MESSAGES } from '../errors/api-error';
import { createHash } from 'node:crypto';

/** The scope of a cursor. A cursor is rejected for another user, another list or other filters. */
export type CursorScope = readonly [userId: string, list: string, filters: object];

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns an opaque cursor that means: continue after the row `id`. */
export function encodeCursor(id: string, scope: CursorScope): string {
  return Buffer.from(`${id}.${checksum(id, scope)}`).toString('base64url');
}

/** Returns the id in a cursor that `encodeCursor` created for the same scope; null for any other text. Never throws. */
export function decodeCursor(cursor: string, scope: CursorScope): string | null {
  const [id = '', sum = '', ...rest] = Buffer.from(cursor, 'base64url').toString().split('.');
  const genuine = rest.length === 0 && UUID.test(id) && sum === checksum(id, scope);
  return genuine && encodeCursor(id, scope) === cursor ? id : null;
}

/** No secret is needed: a forged cursor only sets the start, among rows that its user may read anyway. */
function checksum(id: string, scope: CursorScope): string {
  return createHash('sha256')
    .update(JSON.stringify([id, scope]))
    .digest('base64url')
    .slice(0, 16);
}

export interface PageRequest {
  limit: number;
  cursor?: string;
  since?: Date;
  until?: Date;
}

/** The range of ids of a page; null: no bound on this side. */
export interface IdWindow {
  /** The lowest id in the range. */
  from: string | null;
  /** The lowest id above the range. */
  before: string | null;
}

/** Returns the window of a page. Ids are UUIDv7, so a time is a bound of ids, and new rows never come before the cursor. */
export function idWindow({ cursor, since, until }: Partial<PageRequest>, scope: CursorScope): IdWindow {
  const ends = [keysetStart(cursor, scope), until ? lowestIdOf(until.getTime()) : null];
  return {
    from: since ? lowestIdOf(since.getTime()) : null,
    before: ends.filter((end) => end !== null).sort()[0] ?? null,
  };
}

/** Returns the id after which a page starts; null for the first page. */
export function keysetStart(cursor: string | undefined, scope: CursorScope): string | null {
  if (cursor === undefined) return null;
  const id = decodeCursor(cursor, scope);
  if (id === null) throw invalidCursor('cursor', MESSAGES.badCursor);
  return id;
}

/** One page of a list. The response has `items` as `data`, next to `nextCursor`. */
export class Page<T> {
  private constructor(
    readonly items: readonly T[],
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

  map<U>(transform: (item: T) => U): Page<U> {
    return new Page(this.items.map(transform), this.nextCursor);
  }
}
