import { ApiError } from '../../plumbing/errors/api-error';
import { messageFor, MESSAGES } from '../../plumbing/errors/messages';
import { ADMIN, type Principal } from '../access-token';
import type { Scope } from '../scope';

/** The token that is asked for. */
export interface Grant {
  userId: string;
  scopes: readonly Scope[];
  /** Null: the token does not expire. */
  expiresAt: Date | null;
}

/** The scope for managing this user's tokens: one scope for the manager's own tokens, another for all other users. */
export const scopeToManage = (manager: Principal, userId: string): Scope =>
  userId === manager.userId ? 'tokens:manage' : 'users:manage';

/**
 * Refuses to let `manager` manage the tokens of this user without the scope for it, and those of admin without being admin.
 * @throws ApiError 403 that says so
 */
export function requireManager(manager: Principal, userId: string): void {
  const needed = scopeToManage(manager, userId);
  if (!manager.scopes.includes(needed)) throw new ApiError(403, messageFor.missingScope(needed));
  if (userId === ADMIN && manager.userId !== ADMIN) throw new ApiError(403, MESSAGES.adminReserved);
}

/**
 * No token outranks or outlives the token that makes it.
 * @throws ApiError 403 for a user or a scope beyond the grantor's, 400 for an expiry in the past or after the grantor's
 */
export function judgeGrant(grantor: Principal, { userId, scopes, expiresAt }: Grant, now: Date): void {
  requireManager(grantor, userId);
  const lacking = scopes.find((scope) => !grantor.scopes.includes(scope));
  if (lacking) throw new ApiError(403, messageFor.scopeNotHeld(lacking));
  if (expiresAt && expiresAt <= now) throw new ApiError(400, MESSAGES.expiryPast);
  const own = grantor.expiresAt;
  if (own && (expiresAt === null || expiresAt > own)) {
    throw new ApiError(400, messageFor.tokenOutlives(own.toISOString()));
  }
}
