import type { CursorScope } from './cursor';
import { lowestIdOf } from '../database/id-time';
import { keysetStart } from './keyset';

/** What a list is asked for, besides its filters. */
export interface PageRequest {
  limit: number;
  cursor?: string;
  /** Only rows created at this time or later. */
  since?: Date;
  /** Only rows created before this time. */
  until?: Date;
}

/** The ids that a page is looked for among; null: without an end. */
export interface IdWindow {
  /** The lowest of them. */
  from: string | null;
  /** The first one that is too high. */
  before: string | null;
}

/**
 * The window of a page. Ids are UUIDv7: a time is a bound of ids, and rows that come later are never before the cursor.
 * @throws ApiError 400 for a cursor of another scope
 */
export function idWindow({ cursor, since, until }: PageRequest, scope: CursorScope): IdWindow {
  const ends = [keysetStart(cursor, scope), until ? lowestIdOf(until.getTime()) : null];
  return {
    from: since ? lowestIdOf(since.getTime()) : null,
    before: ends.filter((end) => end !== null).sort()[0] ?? null,
  };
}
