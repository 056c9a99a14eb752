import { createHmac } from 'node:crypto';

const WHSEC = 'whsec_';
const KEY_BYTES = { min: 24, max: 64 };

/** Returns `x-service-signature`: lowercase hex HMAC-SHA256 (RFC 2104) of the body's bytes, keyed with the secret as UTF-8. */
export function serviceSignature(body: string, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/**
 * Returns `webhook-signature` of Standard Webhooks 1.0: `v1,` and base64 HMAC-SHA256 over `id.timestamp.body`.
 * @param timestamp unix seconds
 */
export function standardSignature(id: string, timestamp: number, body: string, secret: string): string {
  return `v1,${createHmac('sha256', standardKey(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** Returns a secret in the form that every Standard Webhooks library takes: `whsec_` and the base64 of the key's bytes. */
export const standardSecret = (secret: string): string => `${WHSEC}${standardKey(secret).toString('base64')}`;

/**
 * Returns the key of Standard Webhooks. `whsec_` with canonical base64 of 24 to 64 bytes is decoded; the key of any
 * other secret is its UTF-8 bytes.
 */
export function standardKey(secret: string): Buffer {
  if (secret.startsWith(WHSEC)) {
    const encoded = secret.slice(WHSEC.length);
    const key = Buffer.from(encoded, 'base64');
    const canonical = key.toString('base64') === encoded;
    if (canonical && key.length >= KEY_BYTES.min && key.length <= KEY_BYTES.max) return key;
  }
  return Buffer.from(secret, 'utf8');
}
