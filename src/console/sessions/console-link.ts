import { hash } from 'node:crypto';
import { ApiError, invalid, messageFor, MESSAGES } from '../../infrastructure/errors/api-error';
import { ADMIN, type Principal, type Scope } from '../../auth/access-token';
import { requireManager } from '../../auth/tokens/token-grant';
import { HOUR_MS, MINUTE_MS } from '../../infrastructure/config/durations';

/** Lifetime of a code, in ms. */
export const CODE_LIVES_MS = 5 * MINUTE_MS;
/** Default lifetime of a session, in ms. */
const SESSION_LIVES_MS = 12 * HOUR_MS;
const CONSOLE_SCOPES: readonly Scope[] = ['webhooks:read', 'webhooks:write', 'deliveries:read'];
/** Scopes that a link for another user cannot have: they manage tokens, or affect all users. */
const NOT_FOR_OTHERS: readonly Scope[] = ['users:manage', 'tokens:manage', 'event-types:manage'];

/** A browser never gets this scope: what it does cannot be undone. */
const NEVER: Scope = 'users:erase';

export const inBrowser = (scopes: readonly Scope[]): Scope[] => scopes.filter((scope) => scope !== NEVER);

export const CONSOLE_PATH = /^\/console(\/[A-Za-z0-9_~-]+)*(\?[A-Za-z0-9_.~=&%:-]*)?$/;

export interface LinkOptions {
  /** Absent: webhooks:read, webhooks:write and deliveries:read, as far as the link's creator holds them. */
  scopes?: readonly Scope[];
  /** Lifetime of the session in seconds, 300 to 604,800; absent: 12 hours, or as long as the creator's token. */
  expiresInSeconds?: number;
  /** The page to open, see `CONSOLE_PATH`. Default: `/console`. */
  path?: string;
}

export interface LinkGrant {
  userId: string;
  scopes: readonly Scope[];
  expiresAt: Date;
}

/** The credential that a session is revoked with: a token, or the setting BOOTSTRAP_TOKEN. Both are null if there is none. */
export interface MadeWith {
  tokenId: string | null;
  bootstrapHash: Buffer | null;
}

/** Returns the credential that sessions of `maker` are revoked with; a JWT has none, only an expiry. */
export const madeWith = ({ tokenId, userId }: Principal, bootstrapHash: Buffer | null): MadeWith => ({
  tokenId,
  bootstrapHash: tokenId === null && userId === ADMIN ? bootstrapHash : null,
});

/** Hashes a code with SHA-256. Only the hash of a code is stored. */
export const hashCode = (code: string): Buffer => hash('sha256', code, 'buffer');

/** Returns the URL of a link. The code is in the fragment, which browsers do not send to servers. */
export const linkUrl = (path: string, code: string): string => `${path}#code=${code}`;

/** Returns the grant of the service itself: any scopes but `users:erase`, for 12 hours by default. */
export function grantOf(
  userId: string,
  { scopes = CONSOLE_SCOPES, expiresInSeconds }: LinkOptions,
  now: Date,
): LinkGrant {
  if (scopes.includes(NEVER)) throw new ApiError('scope_not_allowed', MESSAGES.eraseOutsideSessions);
  const livesMs = expiresInSeconds === undefined ? SESSION_LIVES_MS : expiresInSeconds * 1000;
  return { userId, scopes, expiresAt: new Date(now.getTime() + livesMs) };
}

/** Returns the grant of `maker`: no session has more scopes or a later expiry than the token that creates it. */
export function grantBy(maker: Principal, userId: string, options: LinkOptions, now: Date): LinkGrant {
  requireManager(maker, userId);
  const scopes = options.scopes ?? CONSOLE_SCOPES.filter((scope) => maker.scopes.includes(scope));
  const lacking = scopes.length > 0 ? scopes.find((scope) => !maker.scopes.includes(scope)) : CONSOLE_SCOPES[0];
  if (lacking) throw new ApiError('scope_missing', messageFor.scopeNotHeld(lacking));
  const forbidden = userId === maker.userId ? undefined : scopes.find((scope) => NOT_FOR_OTHERS.includes(scope));
  if (forbidden) throw new ApiError('scope_not_allowed', MESSAGES.linkManagesTokens);
  const { expiresAt } = grantOf(userId, options, now);
  const end = maker.expiresAt;
  if (!end || expiresAt <= end) return { userId, scopes, expiresAt };
  if (options.expiresInSeconds !== undefined)
    throw invalid('expiresInSeconds', messageFor.sessionOutlives(end.toISOString()));
  return { userId, scopes, expiresAt: end };
}

/** Returns the session for a token: with the same scopes but `users:erase`, for 12 hours or as long as the token. */
export function sessionOf({ userId, scopes: held, expiresAt: end }: Principal, now: Date): LinkGrant {
  const scopes = inBrowser(held);
  const { expiresAt } = grantOf(userId, { scopes }, now);
  return { userId, scopes, expiresAt: end && end < expiresAt ? end : expiresAt };
}
