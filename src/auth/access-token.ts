import { hash } from 'node:crypto';
import type { Scope } from './scope';

/** The user that a request acts for, and the scopes of the request. */
export interface Principal {
  /** The id of the token's row; null for the bootstrap token and for JWTs, which have no row. */
  tokenId: string | null;
  userId: string;
  scopes: readonly Scope[];
  /** Null if the token does not expire. */
  expiresAt: Date | null;
}

const TOKEN = /^wns_[A-Za-z0-9_-]{43}$/;

export const isAccessToken = (text: string): boolean => TOKEN.test(text);

/** The user of BOOTSTRAP_TOKEN. No JWT can name this user, and over the API only its own tokens create tokens for it. */
export const ADMIN = 'admin';

/** Formats 32 random bytes as a token: `wns_` and 43 base64url characters. */
export const formatToken = (random: Buffer): string => `wns_${random.toString('base64url')}`;

/** Hashes a token with SHA-256. Only the hash of an access token is stored. */
export const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer');
