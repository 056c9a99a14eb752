import { bytesOf, fromBase64, toBase64 } from './bytes';

const WHSEC = 'whsec_';
const KEY_BYTES = { min: 24, max: 64 };
/** Base64 or base64url, with padding or without. */
const ENCODED = /^([A-Za-z0-9+/]+|[A-Za-z0-9_-]+)={0,2}$/;
/** Looks like a secret of Standard Webhooks: also with a version, in quotes, after a space, or in capitals. */
const MEANT = /^[\s"']*(v1,|whsec_)/i;

/**
 * Returns the key of Standard Webhooks: the decoded bytes of `whsec_` and base64 or base64url, with or without padding, of 24 to
 * 64 bytes. The key of any other secret is its UTF-8 bytes.
 */
export const keyOfSecret = (secret: string): Uint8Array => decoded(secret) ?? bytesOf(secret);

function decoded(secret: string): Uint8Array | null {
  if (!secret.startsWith(WHSEC)) return null;
  const encoded = secret.slice(WHSEC.length);
  const key = ENCODED.test(encoded) ? fromBase64(encoded) : new Uint8Array();
  const isInBounds = key.length >= KEY_BYTES.min && key.length <= KEY_BYTES.max;
  const [canonical, given] = [toBase64(key), encoded.replaceAll('-', '+').replaceAll('_', '/')];
  return isInBounds && (given === canonical || given === withoutPadding(canonical)) ? key : null;
}

const withoutPadding = (base64: string): string => base64.replace(/=+$/, '');

/** Returns whether the secret stands for other bytes than those of its text. */
export const isDecoded = (secret: string): boolean => decoded(secret) !== null;

/** Returns whether the key is decoded, although the base64 is not canonical: versions before 1.0 used the text of such a secret. */
export function isLoose(secret: string): boolean {
  const key = decoded(secret);
  return key !== null && `${WHSEC}${toBase64(key)}` !== secret;
}

/** Returns why a secret cannot be used: it looks like one of Standard Webhooks, but no library would decode it. Null if it can. */
export function secretProblem(secret: string): string | null {
  if (!MEANT.test(secret) || isDecoded(secret)) return null;
  if (!secret.startsWith(WHSEC))
    return `must begin with ${WHSEC} itself, without anything before it, or be another text`;
  const encoded = secret.slice(WHSEC.length);
  if (!ENCODED.test(encoded)) return `must have only base64 after ${WHSEC}, without spaces`;
  const { length } = fromBase64(encoded);
  if (length >= KEY_BYTES.min && length <= KEY_BYTES.max) return `must have valid base64 after ${WHSEC}`;
  return `must have base64 of ${KEY_BYTES.min} to ${KEY_BYTES.max} bytes after ${WHSEC}, not of ${length}`;
}

/** Returns the keys with which a receiver verifies: of a loose secret also its text, by which versions before 1.0 signed. */
export const verifyingKeys = (secret: string): Uint8Array[] =>
  isLoose(secret) ? [keyOfSecret(secret), bytesOf(secret)] : [keyOfSecret(secret)];
