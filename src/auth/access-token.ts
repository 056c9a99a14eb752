import { hash } from 'node:crypto';

export const SCOPES = {
  'webhooks:read': 'read webhooks',
  'webhooks:write': 'create, change, delete, test and repair webhooks',
  'deliveries:read': 'read deliveries and events',
  'messages:pull': 'lease and acknowledge messages of pull webhooks',
  'events:publish': 'publish events for oneself',
  'events:broadcast': 'publish events for other users, or for all users',
  'event-types:manage': 'declare, change and delete event types, for all users',
  'accounts:manage': 'manage social accounts',
  'tokens:manage': "manage one's own tokens",
  'users:manage': 'manage tokens of others',
  'users:erase': 'forget users, and read erasures',
} as const;

export type Scope = keyof typeof SCOPES;

export const ALL_SCOPES = Object.keys(SCOPES) as Scope[];

export type NeededScopes = readonly (Scope | readonly Scope[])[];

/** Returns the first requirement that the held scopes do not meet, as text; undefined when they meet all. */
export function missingScope(needed: NeededScopes, held: readonly Scope[]): string | undefined {
  const missing = needed.find((need) =>
    typeof need === 'string' ? !held.includes(need) : !need.some((scope) => held.includes(scope)),
  );
  return missing === undefined ? undefined : [missing].flat().join(' or ');
}

export const isScope = (text: string): text is Scope => Object.hasOwn(SCOPES, text);

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
