/** The lowest UUIDv7 (RFC 9562) of a millisecond, its version and variant bits left zero so that it bounds them all. */
export function lowestIdOf(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The instant inside a UUIDv7 (RFC 9562, section 5.7). */
export function timeOfId(id: string): Date {
  return new Date(parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}
