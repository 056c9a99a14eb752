import { createHash } from 'node:crypto';
import { ApiError, MESSAGES } from '../infrastructure/errors/api-error';
import type { Webhook } from './webhook.entity';
import { ADDED, SHOWN } from './webhook-fields';

export const IF_MATCH = {
  name: 'if-match',
  required: false,
  description: 'The `etag` of the webhook as you know it. When it was changed since, nothing happens.',
  schema: { type: 'string' as const },
};

export const IF_NONE_MATCH = {
  name: 'if-none-match',
  required: false,
  description: '`*` only creates: when the webhook exists, nothing happens.',
  schema: { type: 'string' as const },
};

/**
 * Returns the `etag` of a webhook: the version of what its owner sets, and of `active`. Figures do not change it. The time
 * of the last change stands for the secret.
 */
export function etagOf(webhook: Webhook): string {
  const names = SHOWN.filter((name) => !ADDED.includes(name) || (webhook[name] ?? null) !== null);
  const set = names.map((name) => (name === 'headers' ? Object.keys(webhook.headers) : webhook[name]));
  const version = JSON.stringify([...set, webhook.updatedAt]);
  return `"${createHash('sha256').update(version).digest('base64url').slice(0, 22)}"`;
}

/** The headers by which a request says which version it changes. */
export interface Conditions {
  /** A list of etags, or `*` for any version of an existing webhook. */
  ifMatch?: string;
  /** `*`: the webhook must not exist. */
  ifNoneMatch?: string;
}

/**
 * Checks the headers `if-match` and `if-none-match` (RFC 9110, sections 13.1.1 and 13.1.2). A weak etag never matches.
 * @param webhook null: it does not exist
 * @throws ApiError 412 when they name other versions
 */
export function requireConditions(webhook: Webhook | null, { ifMatch, ifNoneMatch }: Conditions): void {
  if (ifMatch !== undefined && !(webhook && names(ifMatch, webhook)))
    throw new ApiError(
      'precondition_failed',
      /^\s*W\//.test(ifMatch) ? MESSAGES.weakEtag : MESSAGES.preconditionFailed,
    );
  if (ifNoneMatch !== undefined && webhook && names(ifNoneMatch, webhook))
    throw new ApiError('precondition_failed', MESSAGES.webhookExists);
}

function names(header: string, webhook: Webhook): boolean {
  if (header.trim() === '*') return true;
  return header
    .split(',')
    .map((etag) => etag.trim())
    .includes(etagOf(webhook));
}
