import type { JWTPayload } from 'jose';
import { isUserId } from 'webhook-notification/catalogue';
import { ADMIN, type Principal } from '../access-token';
import { isScope } from '../scope';

/** The first second whose year has five digits. */
const END_OF_TIME_S = Date.UTC(10_000, 0) / 1000;

/**
 * The principal of a verified JWT: `sub` is the user, `scope` (RFC 8693, section 4.2: one string, separated by spaces)
 * lists what the user may do. Unknown scopes are ignored, and so is a `scope` of another type. Null when `sub` is no
 * valid user id or is `admin`, or when the expiry is no point in time.
 */
export function principalOf({ sub, scope, exp }: JWTPayload): Principal | null {
  if (typeof sub !== 'string' || !isUserId(sub) || sub === ADMIN) return null;
  if (exp === undefined || !(exp >= 0 && exp < END_OF_TIME_S)) return null;
  const named = typeof scope === 'string' ? scope.split(' ') : [];
  return { tokenId: null, userId: sub, scopes: [...new Set(named)].filter(isScope), expiresAt: new Date(exp * 1000) };
}
