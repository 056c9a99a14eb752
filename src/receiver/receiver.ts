import type { ReceivedHeaders } from './headers';
import { type ReceivedEvent, type Rules, verify } from './verify';

export type { ReceivedHeaders } from './headers';
export { type ReceivedEvent, type SignatureFailure, type SignatureScheme, WebhookSignatureError } from './verify';

/** How far the clocks may differ, and a request may have been under way. */
const TOLERANCE_SECONDS = 300;

export interface VerifyOptions {
  /** How old (or how far in the future) `webhook-timestamp` may be; 300 unless said otherwise. */
  toleranceSeconds?: number;
  /**
   * `any` (unless said otherwise): Standard Webhooks when one of its headers is there, else `x-service-signature`.
   * `standard` refuses requests without a signed time, `service` looks at `x-service-signature` alone.
   */
  scheme?: Rules['scheme'];
}

/**
 * The event of a genuine delivery.
 * @param rawBody the bytes (or the text) as they came in, before any parsing
 * @param secret the webhook's secret, or several while one replaces another
 * @throws WebhookSignatureError, with a `reason`, for every request that is not to be believed
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

/** An empty key would let anybody sign. */
const isSecret = (secret: unknown): boolean => typeof secret === 'string' && secret !== '';
