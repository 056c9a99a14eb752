import { ApiError, invalid, messageFor, MESSAGES } from '../../infrastructure/errors/api-error';
import { ADMIN, type Principal, type Scope } from '../access-token';

export interface Grant {
  userId: string;
  scopes: readonly Scope[];
  expiresAt: Date | null;
}

/** Returns the scope for managing this user's tokens: one for the manager's own tokens, another for all other users. */
export const scopeToManage = (manager: Principal, userId: string): Scope =>
  userId === manager.userId ? 'tokens:manage' : 'users:manage';

/** Requires `manager` to hold the scope for managing this user's tokens, and to be admin for those of admin. */
export function requireManager(manager: Principal, userId: string): void {
  const needed = scopeToManage(manager, userId);
  if (!manager.scopes.includes(needed)) throw new ApiError('scope_missing', messageFor.missingScope(needed));
  if (userId === ADMIN && manager.userId !== ADMIN) throw new ApiError('admin_reserved', MESSAGES.adminReserved);
}

/** Validates a grant: no token has more scopes or a later expiry than the token that creates it. */
export function validateGrant(grantor: Principal, { userId, scopes, expiresAt }: Grant, now: Date): void {
  requireManager(grantor, userId);
  const lacking = scopes.find((scope) => !grantor.scopes.includes(scope));
  if (lacking) throw new ApiError('scope_missing', messageFor.scopeNotHeld(lacking));
  if (expiresAt && expiresAt <= now) throw invalid('expiresAt', MESSAGES.expiryPast);
  const own = grantor.expiresAt;
  if (own && (expiresAt === null || expiresAt > own))
    throw invalid('expiresAt', messageFor.tokenOutlives(own.toISOString()));
}
