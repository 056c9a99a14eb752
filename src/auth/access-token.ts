import { hash } from 'node:crypto';
import type { Scope } from './scope';

/** The user that a request speaks for, and what the request may do. */
export interface Principal {
  /** The id of the token's row; null for the bootstrap token and for JWTs, which have no row. */
  tokenId: string | null;
  userId: string;
  scopes: readonly Scope[];
  /** Null: the token does not expire. */
  expiresAt: Date | null;
}

const TOKEN = /^wns_[A-Za-z0-9_-]{43}$/;

/** True when the text has the form of an access token. */
export const isAccessToken = (text: string): boolean => TOKEN.test(text);

/** The user of BOOTSTRAP_TOKEN. No JWT can name it, and over the API only its own tokens make tokens for it. */
export const ADMIN = 'admin';

/** Makes a token of 32 random bytes: `wns_` and 43 base64url characters. */
export const formatToken = (random: Buffer): string => `wns_${random.toString('base64url')}`;

/** The SHA-256 of a token. Nothing else of an access token is stored. */
export const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer');
