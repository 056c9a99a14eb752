import { invalidCursor } from '../errors/api-error';
import { MESSAGES } from '../errors/messages';
import { type CursorScope, decodeCursor } from './cursor';

/**
 * Returns the id after which a page starts; null for the first page.
 * @throws ApiError 400 for a cursor of another scope
 */
export function keysetStart(cursor: string | undefined, scope: CursorScope): string | null {
  if (cursor === undefined) return null;
  const id = decodeCursor(cursor, scope);
  if (id === null) throw invalidCursor('cursor', MESSAGES.badCursor);
  return id;
}
