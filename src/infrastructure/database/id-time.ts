/** A page that begins after it is the first one. */
export const BEFORE_ALL_IDS = '00000000-0000-0000-0000-000000000000';
export const MAX_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Returns a lower bound of all UUIDv7 (RFC 9562) of a millisecond since 1970: version and variant bits are zero too. */
export function lowestIdOf(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** Returns the time in a UUIDv7 (RFC 9562, section 5.7), to the millisecond. */
export function timeOfId(id: string): Date {
  return new Date(parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/** Returns the lowest and the highest of at least one id. `between` with these two lets PostgreSQL prune partitions. */
export function idBounds(ids: readonly string[]): [lowest: string, highest: string] {
  let [lowest = '', highest = ''] = [ids[0], ids[0]];
  for (const id of ids) {
    if (id < lowest) lowest = id;
    if (id > highest) highest = id;
  }
  return [lowest, highest];
}
