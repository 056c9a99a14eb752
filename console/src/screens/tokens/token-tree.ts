import type { Token } from '../../api/types';

/** A token, and the tokens that are revoked with it. */
export interface Branch {
  token: Token;
  children: readonly Branch[];
}

/** Returns the tokens as a tree: each below the token that it is revoked with, sessions last. */
export function treeOf(tokens: readonly Token[]): readonly Branch[] {
  const ids = new Set(tokens.map(({ id }) => id));
  const below = (parent: string | null): readonly Branch[] =>
    sessionsLast(tokens)
      .filter(({ madeBy }) => (madeBy !== null && ids.has(madeBy) ? madeBy : null) === parent)
      .map((token) => ({ token, children: below(token.id) }));
  return below(null);
}

const sessionsLast = (tokens: readonly Token[]): Token[] =>
  [...tokens].sort((a, b) => Number(a.session) - Number(b.session));

/** Returns the tokens that are revoked with this one, in the order of the tree. */
export const fallingWith = ({ id }: Token, tokens: readonly Token[]): Token[] =>
  sessionsLast(tokens.filter(({ madeBy }) => madeBy === id)).flatMap((token) => [token, ...fallingWith(token, tokens)]);

/**
 * What a token that this session makes is revoked with: a token (`itself`: the one of the page is no session), the
 * setting BOOTSTRAP_TOKEN, or the session. `unknown`: a token that is not in the list.
 */
export type Parent =
  { kind: 'token' | 'session'; token: Token } | { kind: 'bootstrap' } | { kind: 'unknown'; expiresAt: string | null };

interface Maker {
  tokenId: string | null;
  expiresAt: string | null;
}

/** @param isBootstrapUser the user is admin, and BOOTSTRAP_TOKEN is set: then admin's sessions without a token have it */
export function parentOf({ tokenId, expiresAt }: Maker, tokens: readonly Token[], isBootstrapUser: boolean): Parent {
  const own = tokens.find(({ id }) => id === tokenId);
  if (!own) return { kind: 'unknown', expiresAt };
  if (!own.session) return { kind: 'token', token: own };
  if (own.madeBy === null) return isBootstrapUser ? { kind: 'bootstrap' } : { kind: 'session', token: own };
  const token = tokens.find(({ id }) => id === own.madeBy);
  return token ? { kind: 'token', token } : { kind: 'unknown', expiresAt };
}

/** Returns the latest expiry that a token with this parent may have; null: it need not expire. */
export function latestOf(parent: Parent): string | null {
  if (parent.kind === 'bootstrap') return null;
  return parent.kind === 'unknown' ? parent.expiresAt : parent.token.expiresAt;
}

const DAY_MS = 86_400_000;
const LIVES_DAYS = [1, 7, 30, 90, 365];

/** Returns the lives in days that end by `latest`. */
export const livesUntil = (latest: string | null, now: number): readonly number[] =>
  LIVES_DAYS.filter((days) => latest === null || now + days * DAY_MS <= Date.parse(latest));

/** Returns the expiry of a token that lives so many days from `now` on. */
export const expiryAfter = (days: number, now: number): string => new Date(now + days * DAY_MS).toISOString();

const SOON_MS = 7 * DAY_MS;

/** Returns the time that is left, in ms, when a token expires within seven days; null for others, and for sessions. */
export function endsSoonIn({ expiresAt, session }: Pick<Token, 'expiresAt' | 'session'>, now: number): number | null {
  if (expiresAt === null || session) return null;
  const leftMs = Date.parse(expiresAt) - now;
  return leftMs <= SOON_MS ? Math.max(leftMs, 0) : null;
}
