import type { JWTPayload } from 'jose';
import { isUserId } from 'webhook-notification/catalogue';
import { ADMIN, isScope, type Principal } from '../access-token';

/** The first second of the year 10000. */
const END_OF_TIME_S = Date.UTC(10_000, 0) / 1000;

/**
 * Returns the principal of a verified JWT. `sub` is the user; `scope` (RFC 8693, section 4.2) is a space-separated list
 * of scopes. Unknown scopes and a `scope` of another type are ignored. Null if `sub` is not a valid user id or is
 * `admin`, or if the expiry is not a valid time.
 */
export function principalOf({ sub, scope, exp }: JWTPayload): Principal | null {
  if (typeof sub !== 'string' || !isUserId(sub) || sub === ADMIN) return null;
  if (exp === undefined || !(exp >= 0 && exp < END_OF_TIME_S)) return null;
  const named = typeof scope === 'string' ? scope.split(' ') : [];
  return { tokenId: null, userId: sub, scopes: [...new Set(named)].filter(isScope), expiresAt: new Date(exp * 1000) };
}
