import { createHash } from 'node:crypto';
import { ApiError } from '../infrastructure/errors/api-error';
import { MESSAGES } from '../infrastructure/errors/messages';
import type { Webhook } from './webhook.entity';

/**
 * Returns the `etag` of a webhook: the version of what its owner sets, and of `active`. Figures do not change it. The time
 * of the last change stands for the secret.
 */
export function etagOf({ url, events, description, active, updatedAt }: Webhook): string {
  const version = JSON.stringify([url, events, description, active, updatedAt]);
  return `"${createHash('sha256').update(version).digest('base64url').slice(0, 22)}"`;
}

/**
 * Checks the header `if-match` (RFC 9110, section 13.1.1): a list of etags, or `*`. A weak etag never matches.
 * @throws ApiError 412 when it names other versions
 */
export function requireMatch(webhook: Webhook, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const named = ifMatch.split(',').map((etag) => etag.trim());
  if (!named.includes(etagOf(webhook))) throw new ApiError('precondition_failed', MESSAGES.preconditionFailed);
}
