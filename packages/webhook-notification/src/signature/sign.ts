import { createHmac } from 'node:crypto';
import { keyOfSecret } from './standard-key';

const WHSEC = 'whsec_';

/** Returns `x-service-signature`: lowercase hex HMAC-SHA256 (RFC 2104) of the body's bytes, keyed with the secret as UTF-8. */
export function serviceSignature(body: string, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/**
 * Returns `webhook-signature` of Standard Webhooks 1.0: `v1,` and base64 HMAC-SHA256 over `id.timestamp.body`.
 * @param timestamp unix seconds
 */
export function standardSignature(id: string, timestamp: number, body: string, secret: string): string {
  // HMAC encodes a text as UTF-8 by itself; this runs for every attempt.
  return signatureBy(secret.startsWith(WHSEC) ? standardKey(secret) : secret, id, timestamp, body);
}

/** Returns `webhook-signature` with a key of its own: a text as UTF-8, or bytes. */
export function signatureBy(key: string | Uint8Array, id: string, timestamp: number, body: string): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** Returns a secret in the form that every Standard Webhooks library takes: `whsec_` and the base64 of the key's bytes. */
export const standardSecret = (secret: string): string => `${WHSEC}${standardKey(secret).toString('base64')}`;

/** Returns the key of Standard Webhooks: the bytes of a secret, decoded after `whsec_`. */
export const standardKey = (secret: string): Buffer => Buffer.from(keyOfSecret(secret));
