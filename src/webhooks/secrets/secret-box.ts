import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';

/**
 * Returns what the sealed value of a header is bound to: the webhook, the origin of its url (scheme, host and port), and the name.
 * @param url the url of the webhook, or any other url of the same origin
 */
export const headerContext = (webhookId: string, url: string, name: string): string =>
  `${webhookId} ${new URL(url).origin} ${name.toLowerCase()}`;

/** Bytes of the random nonce that `seal` needs. A nonce must never be used twice under one key. */
export const NONCE_BYTES = 12;

const CIPHER = 'aes-256-gcm';
const KEY_ID_BYTES = 4;
const TAG_BYTES = 16;

/**
 * Encrypts a signing secret with AES-256-GCM (NIST SP 800-38D). The webhook's id is additional authenticated data, so a sealed
 * secret that is copied to another webhook does not open. Layout: key id (4 bytes), nonce (12), ciphertext, tag (16).
 * @param key 32 bytes
 */
export function seal(secret: string, webhookId: string, key: Buffer, nonce: Buffer): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(webhookId));
  return Buffer.concat([keyId(key), nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts a secret that `seal` encrypted with one of `keys` for the same webhook. Null if no key opens it. Never throws. */
export function open(sealed: Buffer, webhookId: string, keys: readonly Buffer[]): string | null {
  const key = keys.find((candidate) => isSealedUnder(sealed, candidate));
  if (!key || sealed.length < KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES) return null;
  const nonce = sealed.subarray(KEY_ID_BYTES, KEY_ID_BYTES + NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(webhookId))
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    const ciphertext = sealed.subarray(KEY_ID_BYTES + NONCE_BYTES, -TAG_BYTES);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

/** Returns whether `sealed` carries the id of this key. The id alone proves nothing. */
export function isSealedUnder(sealed: Buffer, key: Buffer): boolean {
  return keyId(key).equals(keyIdIn(sealed));
}

/** Returns the id of the key that a value was sealed with: the first 4 bytes of the SHA-256 of that key. */
export const keyIdIn = (sealed: Buffer): Buffer => sealed.subarray(0, KEY_ID_BYTES);

const keyIds = new WeakMap<Buffer, Buffer>();

/** Returns 32 bits of the key's hash, which reveal nothing useful about a random 256-bit key. */
export function keyId(key: Buffer): Buffer {
  const known = keyIds.get(key);
  if (known) return known;
  const id = createHash('sha256').update(key).digest().subarray(0, KEY_ID_BYTES);
  keyIds.set(key, id);
  return id;
}
