/** The events that the service knows without configuration, in listing order. */
export const BUILT_IN_EVENTS = [
  'operation.complete',
  'operation.failed',
  'follower.gained',
  'follower.lost',
  'job.started',
  'job.completed',
  'webhook.disabled',
  'webhook.failing',
  'webhook.healthy',
] as const;

export type BuiltInEventName = (typeof BUILT_IN_EVENTS)[number];

/** Two or more parts of a-z, 0-9 and _, joined by dots. */
export const EVENT_NAME = /^[a-z0-9_]+(\.[a-z0-9_]+)+$/;
const MAX_LENGTH = 128;
const RESERVED_PREFIX = 'webhook.';

/** True for the names that only the service itself publishes. */
export const isReserved = (name: string): boolean => name.startsWith(RESERVED_PREFIX);

/** True for the events that the service knows without configuration. */
export const isBuiltIn = (name: string): name is BuiltInEventName =>
  (BUILT_IN_EVENTS as readonly string[]).includes(name);

/** True for two or more parts of a-z, 0-9 and _, joined by dots; of any length. */
export const isEventName = (text: string): boolean => EVENT_NAME.test(text);

/**
 * Returns why a text is not a valid name for an additional event, as the end of a sentence that begins with the name.
 * Returns null for a valid one: an event name of at most 128 characters that is neither reserved nor built in.
 */
export function nameProblem(name: string): string | null {
  if (!isEventName(name)) return 'is no event name: two or more parts of a-z, 0-9 and _, joined by dots';
  if (name.length > MAX_LENGTH) return `is longer than the ${MAX_LENGTH} characters of an event name`;
  if (isReserved(name)) return 'is reserved: only the service itself has events that begin with webhook.';
  return isBuiltIn(name) ? 'is built in already' : null;
}
