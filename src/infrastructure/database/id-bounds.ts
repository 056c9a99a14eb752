/** Returns the lowest and the highest of at least one id. `between` with these two lets PostgreSQL prune partitions. */
export function idBounds(ids: readonly string[]): [lowest: string, highest: string] {
  let [lowest = '', highest = ''] = [ids[0], ids[0]];
  for (const id of ids) {
    if (id < lowest) lowest = id;
    if (id > highest) highest = id;
  }
  return [lowest, highest];
}
