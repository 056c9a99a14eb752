import type { Principal } from '../../auth/access-token';
import { ApiError } from '../../plumbing/errors/api-error';
import { MESSAGES } from '../../plumbing/errors/messages';

/**
 * Whose webhooks an event published over HTTP reaches: the publisher's own, unless another user, or null for everybody,
 * was asked for.
 * @throws ApiError 403 when that takes `events:broadcast` and the token lacks it
 */
export function audienceOf(user: Principal, wanted: string | null | undefined): string | null {
  if (wanted === undefined || wanted === user.userId) return user.userId;
  if (!user.scopes.includes('events:broadcast')) throw new ApiError(403, MESSAGES.broadcastRefused);
  return wanted;
}
