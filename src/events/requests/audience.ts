import type { Principal } from '../../auth/access-token';
import { ApiError } from '../../infrastructure/errors/api-error';
import { MESSAGES } from '../../infrastructure/errors/messages';

/**
 * Returns the user whose webhooks receive an event published over HTTP; null for all users. It is the publisher, unless the
 * request names another user or null.
 * @throws ApiError 403 when that requires `events:broadcast` and the token lacks it
 */
export function audienceOf(user: Principal, wanted: string | null | undefined): string | null {
  if (wanted === undefined || wanted === user.userId) return user.userId;
  if (!user.scopes.includes('events:broadcast')) throw new ApiError('scope_missing', MESSAGES.broadcastRefused);
  return wanted;
}
