import { areEqual, bytesOf, fromBase64, toBase64 } from './bytes';

const WHSEC = 'whsec_';
const KEY_BYTES = { min: 24, max: 64 };

/**
 * Returns the key of Standard Webhooks. `whsec_` with canonical base64 of 24 to 64 bytes is decoded; the key of any
 * other secret is its UTF-8 bytes.
 */
export function keyOfSecret(secret: string): Uint8Array {
  if (secret.startsWith(WHSEC)) {
    const encoded = secret.slice(WHSEC.length);
    const key = fromBase64(encoded);
    const isInBounds = key.length >= KEY_BYTES.min && key.length <= KEY_BYTES.max;
    if (isInBounds && toBase64(key) === encoded) return key;
  }
  return bytesOf(secret);
}

/** Returns whether the secret stands for other bytes than those of its text. */
export const isDecoded = (secret: string): boolean => !areEqual(keyOfSecret(secret), bytesOf(secret));
