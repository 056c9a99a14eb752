import type { ReceivedHeaders } from './headers';
import { type ReceivedEvent, type Rules, verify } from './verify';

export type { ReceivedHeaders } from './headers';
export { type ReceivedEvent, type SignatureFailure, type SignatureScheme, WebhookSignatureError } from './verify';

/** Covers the difference between the clocks and the time that a request is under way. */
const TOLERANCE_SECONDS = 300;

/** How strictly a request is verified. */
export interface VerifyOptions {
  /** How old, or how far in the future, `webhook-timestamp` may be. Default: 300. */
  toleranceSeconds?: number;
  /**
   * `any` (the default): Standard Webhooks when one of its headers is there, else `x-service-signature`. `standard`
   * refuses requests without a signed time. `service` looks at `x-service-signature` alone.
   */
  scheme?: Rules['scheme'];
}

/**
 * Verifies a delivery and returns its event.
 * @param rawBody the bytes (or the text) as they came in, before any parsing
 * @param secret the webhook's secret, or several while one replaces another
 * @throws WebhookSignatureError, with a `reason`, for every request that is not genuine
 * @throws TypeError when there is no secret
 */
export function verifySignature(
  rawBody: Uint8Array | string,
  headers: ReceivedHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, scheme = 'any' }: VerifyOptions = {},
): ReceivedEvent {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (!Array.isArray(secrets) || secrets.length === 0 || !secrets.every(isSecret)) {
    throw new TypeError('verifySignature needs the secret of the webhook, or a list of secrets.');
  }
  return verify(rawBody, headers, secrets, { scheme, toleranceSeconds, nowMs: Date.now() });
}

/** False for an empty text: with an empty key anybody could sign. */
const isSecret = (secret: unknown): boolean => typeof secret === 'string' && secret !== '';
