/** The instant inside a UUIDv7 (RFC 9562, section 5.7). */
export function timeOfId(id: string): Date {
  return new Date(parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}
