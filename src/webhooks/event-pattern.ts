/**
 * Every pattern that subscribes to an event name: `*`, each of its prefixes, and the name itself. For `follower.gained`
 * these are `*`, `follower.*` and `follower.gained`.
 */
export function patternsOf(name: string): string[] {
  const parts = name.split('.');
  const prefixes = parts.slice(1).map((_, i) => `${parts.slice(0, i + 1).join('.')}.*`);
  return ['*', ...prefixes, name];
}

/** The patterns that match none of the known event names. */
export function unknownPatterns(patterns: readonly string[], knownNames: readonly string[]): string[] {
  const known = new Set(knownNames.flatMap(patternsOf));
  return patterns.filter((pattern) => !known.has(pattern));
}
