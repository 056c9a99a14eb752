import type { Scope } from './types';

/** Who is signed in in a tab. */
export interface Session {
  token: string;
  userId: string;
  scopes: readonly Scope[];
  /** Null: the token does not end. */
  expiresAt: string | null;
  tokenId: string | null;
  /** It came by a link: who opens the link again is signed in again. */
  isByLink: boolean;
}

/** What tabs tell each other. `leave`: somebody has signed out, which has ended the session with this id. */
export type Message = { kind: 'who' } | { kind: 'here'; session: Session } | { kind: 'leave'; tokenId: string | null };

const TOKEN = /^wns_[A-Za-z0-9_-]{43}$/;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === 'string';

/** Returns the session that a value from outside of this page is, field by field; null when it is none. */
export function sessionFrom(value: unknown): Session | null {
  if (!isRecord(value)) return null;
  const { token, userId, scopes, expiresAt, tokenId, isByLink } = value;
  if (typeof token !== 'string' || !TOKEN.test(token)) return null;
  if (typeof userId !== 'string' || userId === '' || typeof isByLink !== 'boolean') return null;
  if (!Array.isArray(scopes) || !scopes.every((scope): scope is Scope => typeof scope === 'string')) return null;
  if (!isTextOrNull(tokenId) || !isTextOrNull(expiresAt)) return null;
  if (expiresAt !== null && Number.isNaN(Date.parse(expiresAt))) return null;
  return { token, userId, scopes, expiresAt, tokenId, isByLink };
}

/** Returns what another tab tells; null for everything else that a page of this origin may post. */
export function messageFrom(value: unknown): Message | null {
  if (!isRecord(value)) return null;
  const { kind, tokenId } = value;
  if (kind === 'who') return { kind };
  if (kind === 'leave') return isTextOrNull(tokenId) ? { kind, tokenId } : null;
  const session = kind === 'here' ? sessionFrom(value.session) : null;
  return session && { kind: 'here', session };
}
