import { hash } from 'node:crypto';
import type { Scope } from './scope';

/** Who is asking, and what he may do. */
export interface Principal {
  /** Row of the token; null for the bootstrap token and for JWTs, which have none. */
  tokenId: string | null;
  userId: string;
  scopes: readonly Scope[];
  /** Null: the token does not expire. */
  expiresAt: Date | null;
}

const TOKEN = /^wns_[A-Za-z0-9_-]{43}$/;
export const USER_ID = /^[A-Za-z0-9._@:|-]{1,128}$/;

export const isAccessToken = (text: string): boolean => TOKEN.test(text);

/** The user that belongs to BOOTSTRAP_TOKEN: nobody else becomes him. */
export const ADMIN = 'admin';

export const isUserId = (text: string): boolean => USER_ID.test(text);

/** Builds a token out of 32 random bytes: `wns_` and 43 base64url characters. */
export const formatToken = (random: Buffer): string => `wns_${random.toString('base64url')}`;

/** SHA-256 of a token: all that is ever stored of it. */
export const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer');
