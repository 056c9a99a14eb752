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
