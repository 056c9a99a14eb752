import type { Principal } from '../../auth/access-token';
import { ApiError } from '../../plumbing/errors/api-error';
import { MESSAGES } from '../../plumbing/errors/messages';

/**
 * The user whose webhooks an event published over HTTP reaches; null: everybody's. It is the publisher, unless the
 * request names another user or null.
 * @throws ApiError 403 when that needs `events:broadcast` and the token lacks it
 */
export function audienceOf(user: Principal, wanted: string | null | undefined): string | null {
  if (wanted === undefined || wanted === user.userId) return user.userId;
  if (!user.scopes.includes('events:broadcast')) throw new ApiError(403, MESSAGES.broadcastRefused);
  return wanted;
}
