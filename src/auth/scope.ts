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

/** The scopes that a route requires: all of them; of an inner list, at least one. */
export type NeededScopes = readonly (Scope | readonly Scope[])[];

/** Returns the first requirement that the held scopes do not meet, as text; undefined when they meet all. */
export function missingScope(needed: NeededScopes, held: readonly Scope[]): string | undefined {
  const missing = needed.find((need) =>
    typeof need === 'string' ? !held.includes(need) : !need.some((scope) => held.includes(scope)),
  );
  return missing === undefined ? undefined : [missing].flat().join(' or ');
}

export const isScope = (text: string): text is Scope => Object.hasOwn(SCOPES, text);
