import { createHmac } from 'node:crypto';
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

const GOOD_FOR_MS = 300_000;

/** A text that is the same for the same position, and differs for others. */
export const keyOf = ({ base, upTo }: ChangePosition): string =>
  [base, ...(upTo ? [upTo.target, upTo.changedIn, upTo.id, upTo.isWhole ? 'whole' : 'before'] : [])].join(' ');

/** An opaque cursor of a position, signed with a key of the service. It is good for 5 minutes from `now`. */
export function encodeChangeCursor(position: ChangePosition, scope: CursorScope, now: Date, key: Buffer): string {
  const text = `${now.getTime()} ${keyOf(position)}`;
  return Buffer.from(`${text} ${signatureOf(text, scope, key)}`).toString('base64url');
}

/**
 * The position of a cursor that was made with the same key for the same scope, at most 5 minutes ago. Null for any other
 * text: a forged one could name the beginning of time, and have the whole log read.
 */
export function decodeChangeCursor(cursor: string, scope: CursorScope, now: Date, key: Buffer): ChangePosition | null {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (Buffer.from(text).toString('base64url') !== cursor) return null;
  const parts = text.split(' ');
  const signature = parts.pop();
  const [at, base = '', ...rest] = parts;
  // A time ahead of now is of a clock that was wrong.
  const isRecent = Math.abs(Number(at) - now.getTime()) <= GOOD_FOR_MS;
  if (signature !== signatureOf(parts.join(' '), scope, key) || !isRecent) return null;
  if (rest.length === 0) return { base, upTo: null };
  const [target = '', changedIn = '', id = '', what] = rest;
  return { base, upTo: { target, changedIn, id, isWhole: what === 'whole' } };
}

const signatureOf = (text: string, scope: CursorScope, key: Buffer): string =>
  createHmac('sha256', key)
    .update(JSON.stringify(['changes', text, scope]))
    .digest('base64url');
