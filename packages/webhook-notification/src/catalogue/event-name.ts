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

/** Parts of A-Z, a-z, 0-9, _ and -, with dots between them; one part is enough. */
export const EVENT_NAME = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;
const MAX_LENGTH = 128;
const RESERVED = /^webhook(\.|$)/i;
/** Reserved since version 1.0: types that exist keep such names. */
const RESERVED_FOR_NEW = /^operator\./i;

/** True for the names that only the service itself publishes. */
export const isReserved = (name: string): boolean => RESERVED.test(name);

/** True for the events that the service knows without configuration. */
export const isBuiltIn = (name: string): name is BuiltInEventName =>
  (BUILT_IN_EVENTS as readonly string[]).includes(name);

/** True for parts of A-Z, a-z, 0-9, _ and -, with dots between them; of any length. */
export const isEventName = (text: string): boolean => EVENT_NAME.test(text);

/** Returns the name among these that differs from a name only in case, if there is one. */
export const twinOf = (name: string, names: readonly string[]): string | undefined =>
  names.find((each) => each !== name && each.toLowerCase() === name.toLowerCase());

/**
 * Returns why a text is not a valid name for an additional event, as the end of a sentence that begins with the name.
 * Returns null for a valid one: an event name of at most 128 characters that is neither reserved nor built in.
 * @param mayExist true where a type with this name may exist since before it was reserved
 */
export function nameProblem(name: string, mayExist = false): string | null {
  if (!isEventName(name)) return 'is no event name: parts of A-Z, a-z, 0-9, _ and -, with dots between them';
  if (name.length > MAX_LENGTH) return `is longer than the ${MAX_LENGTH} characters of an event name`;
  if (isReserved(name)) return 'is reserved: only the service itself has the events webhook and webhook.*';
  if (!mayExist && RESERVED_FOR_NEW.test(name))
    return 'is reserved: later versions have events that begin with operator.';
  return isBuiltIn(name) ? 'is built in already' : null;
}
