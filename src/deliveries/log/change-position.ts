import { createHash } from 'node:crypto';
import type { CursorScope } from '../../plumbing/pagination/cursor';

/**
 * A point in the sequence of changes of deliveries. A change has the id of the transaction that made it, and PostgreSQL's
 * snapshots say exactly which transactions were seen: nothing is missed because a transaction took long to commit.
 */
export interface ChangePosition {
  /** The snapshot (`pg_snapshot` as text) whose changes have all been given. */
  base: string;
  /** Given too, of those that `target` sees and `base` does not; null: none. */
  upTo: UpTo | null;
}

/** The last change that was given, in the order of transactions and ids. */
export interface UpTo {
  /** The snapshot whose changes are being given. */
  target: string;
  changedIn: string;
  id: string;
  /** False: the state before its last one was given only. */
  isWhole: boolean;
}

const SNAPSHOT = /^\d{1,20}:\d{1,20}:(\d{1,20}(,\d{1,20})*)?$/;
const XID = /^\d{1,20}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const GOOD_FOR_MS = 300_000;

/** A text that is the same for the same position, and differs for others. */
export const keyOf = ({ base, upTo }: ChangePosition): string =>
  [base, ...(upTo ? [upTo.target, upTo.changedIn, upTo.id, upTo.isWhole ? 'whole' : 'before'] : [])].join(' ');

/** An opaque cursor of a position. It is good for 5 minutes from `now`. */
export function encodeChangeCursor(position: ChangePosition, scope: CursorScope, now: Date): string {
  const text = `${now.getTime()} ${keyOf(position)}`;
  return Buffer.from(`${text} ${checksum(text, scope)}`).toString('base64url');
}

/**
 * The position of a cursor that was made for the same scope, at most 5 minutes ago. Null for any other text. No secret is
 * needed: a forged cursor only names where to start, among rows that its user may read anyway.
 */
export function decodeChangeCursor(cursor: string, scope: CursorScope, now: Date): ChangePosition | null {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (Buffer.from(text).toString('base64url') !== cursor) return null;
  const parts = text.split(' ');
  const sum = parts.pop();
  const [at, base = '', ...rest] = parts;
  if (sum !== checksum(parts.join(' '), scope) || !(Number(at) >= now.getTime() - GOOD_FOR_MS)) return null;
  if (!SNAPSHOT.test(base)) return null;
  if (rest.length === 0) return { base, upTo: null };
  const [target = '', changedIn = '', id = '', what] = rest;
  const isSound = SNAPSHOT.test(target) && XID.test(changedIn) && UUID.test(id);
  return isSound ? { base, upTo: { target, changedIn, id, isWhole: what === 'whole' } } : null;
}

const checksum = (text: string, scope: CursorScope): string =>
  createHash('sha256')
    .update(JSON.stringify([text, scope]))
    .digest('base64url')
    .slice(0, 16);
