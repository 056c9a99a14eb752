import { nameProblem } from 'webhook-notification/cli';

/** New names of event types by their old ones; null drops a type. */
export type EventNames = ReadonlyMap<string, string | null>;

/** Rules of the service for the events of a webhook. */
const MAX_EVENTS = 50;

/**
 * Parses a file for `--map`: a JSON object of names or null by names.
 * @throws Error that says what is wrong with it
 */
export function parseEventNames(json: string): EventNames {
  const value = parsed(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('--map must be a file with a JSON object: {"invoice-paid": "invoice.paid", "legacy": null}');
  const entries = Object.entries(value as Record<string, unknown>);
  const wrong = entries.find(([, to]) => to !== null && typeof to !== 'string');
  if (wrong) throw new Error(`--map must give a name or null for ${wrong[0]}.`);
  return new Map(entries as [string, string | null][]);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Returns the events that a webhook subscribes to for these event types of another system: sorted, without repeats. */
export function eventsOf(types: readonly string[], names: EventNames): string[] {
  const renamed = types.map((type) => names.get(type.trim()) ?? (names.has(type.trim()) ? null : type.trim()));
  // Sorted, because the other system may give them in another order each time, which would be a change.
  return [...new Set(renamed.filter((name): name is string => name !== null && name !== ''))].sort();
}

/** Why a webhook cannot have these events, apart from what the service knows; null when it can. */
export function eventsProblem(events: readonly string[]): string | null {
  if (events.length === 0) return 'it has no event type: --map drops all, or none was given';
  if (events.length > MAX_EVENTS)
    return `it has ${events.length} event types, and a webhook at most ${MAX_EVENTS}: --map can replace several by a pattern such as invoice.*`;
  return null;
}

/** Returns the events that match no known event type, and that the webhook does not have already. */
export function unknownEvents(
  events: readonly string[],
  known: ReadonlySet<string>,
  existing: readonly string[],
): string[] {
  return events.filter((event) => !known.has(event) && !existing.includes(event));
}

/** Returns everything that a webhook may subscribe to when these event types exist: names, prefixes and `*`. */
export function subscribable(names: readonly string[]): Set<string> {
  const prefixes = names.flatMap((name) => {
    const parts = name.split('.');
    return parts.slice(1).map((_, i) => `${parts.slice(0, i + 1).join('.')}.*`);
  });
  return new Set(['*', ...names, ...prefixes]);
}

/** Says what to do about an unknown event type. */
export function adviceOn(event: string): string {
  return nameProblem(event) === null
    ? `${event} is not declared: POST /api/event-types, or rename it with --map`
    : `${event} ${nameProblem(event)}: rename it with --map`;
}
