import { hash } from 'node:crypto';
import { ApiError } from '../../plumbing/errors/api-error';
import { messageFor, MESSAGES } from '../../plumbing/errors/messages';
import { ADMIN, type Principal } from '../access-token';
import type { Scope } from '../scope';
import { requireManager } from '../tokens/token-grant';

/** How long a code is good for, in ms. */
export const CODE_LIVES_MS = 300_000;
/** How long a session lives when nobody says otherwise, in ms. */
const SESSION_LIVES_MS = 12 * 3_600_000;
const CONSOLE_SCOPES: readonly Scope[] = ['webhooks:read', 'webhooks:write', 'deliveries:read'];
/** Nobody is signed in by somebody else to manage tokens, or what concerns everybody. */
const NOT_FOR_OTHERS: readonly Scope[] = ['users:manage', 'tokens:manage', 'event-types:manage'];

/** Where a link may lead. */
export const CONSOLE_PATH = /^\/console(\/[A-Za-z0-9_~-]+)*(\?[A-Za-z0-9_.~=&%:-]*)?$/;

/** What a link is asked for. */
export interface LinkOptions {
  /** Absent: webhooks:read, webhooks:write and deliveries:read, as far as its maker holds them. */
  scopes?: readonly Scope[];
  /** How long the session lives, 300 to 604,800; absent: 12 hours, or as long as its maker's token. */
  expiresInSeconds?: number;
  /** The page that it leads to, see `CONSOLE_PATH`. Default: `/console`. */
  path?: string;
}

/** Who will be signed in, as what, and until when. */
export interface LinkGrant {
  userId: string;
  scopes: readonly Scope[];
  expiresAt: Date;
}

/** What a session ends with: a token, or the setting BOOTSTRAP_TOKEN. Both null: with neither. */
export interface MadeWith {
  tokenId: string | null;
  /** SHA-256 of BOOTSTRAP_TOKEN. */
  bootstrapHash: Buffer | null;
}

/** Returns what a session ends with that `maker` makes. A JWT has no row: the session's expiry alone bounds it. */
export const madeWith = ({ tokenId, userId }: Principal, bootstrapHash: Buffer | null): MadeWith => ({
  tokenId,
  bootstrapHash: tokenId === null && userId === ADMIN ? bootstrapHash : null,
});

/** The SHA-256 of a code. Nothing else of it is stored. */
export const hashCode = (code: string): Buffer => hash('sha256', code, 'buffer');

/** The link of a code. The code stands in the fragment, which browsers send to no server. */
export const linkUrl = (path: string, code: string): string => `${path}#code=${code}`;

/** What the service itself grants: any scopes, for 12 hours by default. */
export function grantOf(
  userId: string,
  { scopes = CONSOLE_SCOPES, expiresInSeconds }: LinkOptions,
  now: Date,
): LinkGrant {
  const livesMs = expiresInSeconds === undefined ? SESSION_LIVES_MS : expiresInSeconds * 1000;
  return { userId, scopes, expiresAt: new Date(now.getTime() + livesMs) };
}

/**
 * What `maker` may grant: no session outranks or outlives the token that makes it.
 * @throws ApiError 403 for a user or a scope beyond the maker's, or for managing tokens or event types as somebody else; 400 when the
 *   session would outlive the maker's token
 */
export function grantBy(maker: Principal, userId: string, options: LinkOptions, now: Date): LinkGrant {
  requireManager(maker, userId);
  const scopes = options.scopes ?? CONSOLE_SCOPES.filter((scope) => maker.scopes.includes(scope));
  const lacking = scopes.length > 0 ? scopes.find((scope) => !maker.scopes.includes(scope)) : CONSOLE_SCOPES[0];
  if (lacking) throw new ApiError(403, messageFor.scopeNotHeld(lacking));
  const forbidden = userId === maker.userId ? undefined : scopes.find((scope) => NOT_FOR_OTHERS.includes(scope));
  if (forbidden) throw new ApiError(403, MESSAGES.linkManagesTokens);
  const { expiresAt } = grantOf(userId, options, now);
  const end = maker.expiresAt;
  if (!end || expiresAt <= end) return { userId, scopes, expiresAt };
  if (options.expiresInSeconds !== undefined) throw new ApiError(400, messageFor.sessionOutlives(end.toISOString()));
  return { userId, scopes, expiresAt: end };
}

/** Returns the session that a token becomes: with the same scopes, for 12 hours or as long as the token. */
export function sessionOf({ userId, scopes, expiresAt: end }: Principal, now: Date): LinkGrant {
  const { expiresAt } = grantOf(userId, { scopes }, now);
  return { userId, scopes, expiresAt: end && end < expiresAt ? end : expiresAt };
}
