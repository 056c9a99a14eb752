import type { EventName } from 'webhook-notification';

/** Events about a webhook that `*` does not match, and that this webhook never receives itself. */
const NOTICES: readonly string[] = ['webhook.failing', 'webhook.healthy'] satisfies EventName[];

/**
 * Returns all patterns that match an event name: `*`, each of its prefixes, and the name itself. For `follower.gained`
 * these are `*`, `follower.*` and `follower.gained`. `*` does not match notices about webhooks.
 */
export function patternsOf(name: string): string[] {
  const parts = name.split('.');
  const prefixes = parts.slice(1).map((_, i) => `${parts.slice(0, i + 1).join('.')}.*`);
  return [...(NOTICES.includes(name) ? [] : ['*']), ...prefixes, name];
}

/** Returns an SQL condition: the event is a notice about a webhook. `name` is an SQL expression for its name. */
export const isNoticeSql = (name: string): string => `${name} in (${NOTICES.map((each) => `'${each}'`).join(', ')})`;

/**
 * Returns the id of the webhook that must not receive an event, because the event is a notice about it, as an SQL expression of
 * type text; null for all other events, whose body it does not read.
 */
export const aboutSql = (name: string, body: string): string =>
  `case when ${isNoticeSql(name)} then ${body}::json #>> '{data,webhookId}' end`;

/** Returns an SQL condition: an event is not about webhook `w`. For events about none it reads nothing else. */
export const isNotAbout = (about: string): string => `(${about} is null or ${about} <> w.id::text)`;

/** Returns these patterns as an SQL expression of type text[]; `name` is an SQL expression for the event name. */
export const patternsSql = (name: string): string => `
  case when ${isNoticeSql(name)} then array[${name}] else array['*', ${name}] end || array(
  select array_to_string((string_to_array(${name}, '.'))[1:parts], '.') || '.*'
  from generate_series(1, cardinality(string_to_array(${name}, '.')) - 1) as parts)`;

/** Returns the patterns that match none of the known event names. */
export function unknownPatterns(patterns: readonly string[], knownNames: readonly string[]): string[] {
  const known = new Set(knownNames.flatMap(patternsOf));
  return patterns.filter((pattern) => !known.has(pattern));
}
