// Conditions of statements that find rows by id. Their plans are cached, perhaps while a partition is empty, and must use the
// primary key: every other index grows with the day, or keeps dead entries until a vacuum.

/** Matches a row whose id is in an array, such as `$1::uuid[]`. `$2` and `$3` are the lowest and highest of these ids. */
export const isOneOf = (row: string, ids: string): string => `${row}.id = any(${ids}) and ${isWithin(row, '$2', '$3')}`;

/**
 * Matches a row whose id the CTE `cte` returns, as long as it is between the ids of `bounds`, a CTE that locks nothing. Its ids limit
 * the scan before the first lock. PostgreSQL 18 crashes when a statement selects partitions after it has met a row that another
 * transaction has just changed: then it reads memory that it has freed.
 */
export const isAmong = (row: string, cte: string, bounds: string): string => {
  const [lowest, highest] = ['asc', 'desc'].map((order) => `(select id from ${bounds} order by id ${order} limit 1)`);
  return `${row}.id = any(array(select id from ${cte})) and ${isWithin(row, lowest as string, highest as string)}`;
};

const MAX_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Bounds for `isAmong`: from the ids that the query `lowest` returns, without an upper one. */
export const boundsFrom = (lowest: string): string => `(${lowest}) union all select '${MAX_ID}'::uuid`;

/** Limits the scan to the partitions of these ids. The `or` prevents an index range scan from the lowest to the highest id. */
const isWithin = (row: string, lowest: string, highest: string): string =>
  `(${row}.id between ${lowest} and ${highest} or ${row}.id = ${lowest})`;

/** Matches a pending delivery. The condition is written so that PostgreSQL cannot use partial indexes on pending rows. */
export const isPending = (row: string): string => `${row}.status || '' = 'pending'`;

/** Matches an event that is not fanned out, likewise without partial indexes. */
export const IS_OPEN = `coalesce(fanned_out_at, 'infinity') = 'infinity'`;
