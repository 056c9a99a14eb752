/**
 * Returns all patterns that match an event name: `*`, each of its prefixes, and the name itself. For `follower.gained`
 * these are `*`, `follower.*` and `follower.gained`.
 */
export function patternsOf(name: string): string[] {
  const parts = name.split('.');
  const prefixes = parts.slice(1).map((_, i) => `${parts.slice(0, i + 1).join('.')}.*`);
  return ['*', ...prefixes, name];
}

/** Returns these patterns as an SQL expression of type text[]; `name` is an SQL expression for the event name. */
export const patternsSql = (name: string): string => `array['*', ${name}] || array(
  select array_to_string((string_to_array(${name}, '.'))[1:parts], '.') || '.*'
  from generate_series(1, cardinality(string_to_array(${name}, '.')) - 1) as parts)`;

/** Returns the patterns that match none of the known event names. */
export function unknownPatterns(patterns: readonly string[], knownNames: readonly string[]): string[] {
  const known = new Set(knownNames.flatMap(patternsOf));
  return patterns.filter((pattern) => !known.has(pattern));
}
