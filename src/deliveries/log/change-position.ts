import { createHmac } from 'node:crypto';
import type { CursorScope } from '../../infrastructure/pagination/page';

/**
 * A position in the sequence of delivery changes. A change has the id of the transaction that made it, and PostgreSQL's snapshots
 * tell exactly which transactions were visible. So no change is missed because a transaction took long to commit.
 */
export interface ChangePosition {
  /** The history of the database that assigned the transaction ids: a cluster, and a timeline that begins with each failover. */
  history: string;
  /** The snapshot (`pg_snapshot` as text) whose changes have all been returned. */
  base: string;
  /** The last change returned of those that `target` sees and `base` does not; null when there is none. */
  upTo: UpTo | null;
}

export interface UpTo {
  /** The snapshot whose changes are being returned. */
  target: string;
  changedIn: string;
  id: string;
  /** False when only the state before the row's last one was returned. */
  isWhole: boolean;
}

const GOOD_FOR_MS = 300_000;

export const keyOf = ({ history, base, upTo }: ChangePosition): string =>
  [history, base, ...(upTo ? [upTo.target, upTo.changedIn, upTo.id, upTo.isWhole ? 'whole' : 'before'] : [])].join(' ');

/** Encodes a position as an opaque cursor, signed with a key of the service. It is valid for 5 minutes from `now`. */
export function encodeChangeCursor(position: ChangePosition, scope: CursorScope, now: Date, key: Buffer): string {
  const text = `${now.getTime()} ${keyOf(position)}`;
  return Buffer.from(`${text} ${signatureOf(text, scope, key)}`).toString('base64url');
}

/**
 * Decodes a cursor that was created with the same key and scope at most 5 minutes ago. Returns null for any other text: a forged
 * cursor could start at the beginning of time and make the service read the whole log.
 */
export function decodeChangeCursor(cursor: string, scope: CursorScope, now: Date, key: Buffer): ChangePosition | null {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (Buffer.from(text).toString('base64url') !== cursor) return null;
  const parts = text.split(' ');
  const signature = parts.pop();
  const [at, history = '', base = '', ...rest] = parts;
  // A time too far ahead comes from a clock that was wrong.
  const isRecent = Math.abs(Number(at) - now.getTime()) <= GOOD_FOR_MS;
  if (signature !== signatureOf(parts.join(' '), scope, key) || !isRecent) return null;
  if (rest.length === 0) return { history, base, upTo: null };
  const [target = '', changedIn = '', id = '', what] = rest;
  return { history, base, upTo: { target, changedIn, id, isWhole: what === 'whole' } };
}

const signatureOf = (text: string, scope: CursorScope, key: Buffer): string =>
  createHmac('sha256', key)
    .update(JSON.stringify(['changes', text, scope]))
    .digest('base64url');
