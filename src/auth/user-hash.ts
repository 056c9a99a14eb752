import { createHmac } from 'node:crypto';

/**
 * Hashes a user's id with HMAC-SHA-256 (RFC 2104) under each key, so that only a holder of a key can tell whether a hash is of
 * a given user. The prefix sets the hashes apart from other uses of the keys. The first hash is the one to store; all of them
 * are to be looked up.
 */
export const userHashes = (userId: string, keys: readonly Buffer[]): Buffer[] =>
  keys.map((key) => createHmac('sha256', key).update(`erased user\0${userId}`).digest());
