import type { CursorScope } from './cursor';
import { lowestIdOf } from '../database/id-time';
import { keysetStart } from './keyset';

/** Which part of a list is asked for, besides its filters. */
export interface PageRequest {
  limit: number;
  cursor?: string;
  /** Only rows created at this time or later. */
  since?: Date;
  /** Only rows created before this time. */
  until?: Date;
}

/** The range of ids that a page is taken from; null: no bound on this side. */
export interface IdWindow {
  /** The lowest id that belongs to it. */
  from: string | null;
  /** The lowest id that is too high. */
  before: string | null;
}

/**
 * The window of a page. Ids are UUIDv7, so a time is a bound of ids, and new rows never come before the cursor.
 * @throws ApiError 400 for a cursor of another scope
 */
export function idWindow({ cursor, since, until }: PageRequest, scope: CursorScope): IdWindow {
  const ends = [keysetStart(cursor, scope), until ? lowestIdOf(until.getTime()) : null];
  return {
    from: since ? lowestIdOf(since.getTime()) : null,
    before: ends.filter((end) => end !== null).sort()[0] ?? null,
  };
}
