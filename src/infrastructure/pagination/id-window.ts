import { type CursorScope, decodeCursor } from './cursor';
import { lowestIdOf } from '../database/id-time';
import { invalidCursor } from '../errors/api-error';
import { MESSAGES } from '../errors/messages';

/** The requested part of a list, in addition to its filters. */
export interface PageRequest {
  limit: number;
  cursor?: string;
  /** Only rows created at this time or later. */
  since?: Date;
  /** Only rows created before this time. */
  until?: Date;
}

/** The range of ids of a page; null: no bound on this side. */
export interface IdWindow {
  /** The lowest id in the range. */
  from: string | null;
  /** The lowest id above the range. */
  before: string | null;
}

/**
 * Returns the window of a page. Ids are UUIDv7, so a time is a bound of ids, and new rows never come before the cursor.
 */
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
