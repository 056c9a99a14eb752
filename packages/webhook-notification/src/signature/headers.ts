/** Headers as Node's record, where repeated ones may be an array, or as a `Headers` object of the fetch standard. */
export type ReceivedHeaders =
  Readonly<Record<string, string | readonly string[] | undefined>> | { get(name: string): string | null };

/**
 * Returns all values of a header, ignoring the case of its name; empty when it is missing.
 * @param name in lower case
 */
export function valuesOf(headers: ReceivedHeaders, name: string): readonly string[] {
  if (typeof headers !== 'object' || headers === null) return [];
  if (isHeadersObject(headers)) {
    const value = headers.get(name);
    return typeof value === 'string' ? [value] : [];
  }
  return Object.entries(headers)
    .filter(([key]) => key.toLowerCase() === name)
    .flatMap(([, value]) => value)
    .filter((value) => typeof value === 'string');
}

function isHeadersObject(headers: ReceivedHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}
