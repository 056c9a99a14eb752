// Conditions of statements that find rows by their ids. Their plans are made once, perhaps while a partition is empty, and
// must read the primary key: every other index grows with the day, or keeps dead entries until a vacuum.

/** A row whose id is in an array, such as `$1::uuid[]`, where `$2` and `$3` are the lowest and the highest of them. */
export const isOneOf = (row: string, ids: string): string => `${row}.id = any(${ids}) and ${isWithin(row, '$2', '$3')}`;

/** A row whose id a CTE has found. */
export const isAmong = (row: string, cte: string): string => {
  const [lowest, highest] = ['asc', 'desc'].map((order) => `(select id from ${cte} order by id ${order} limit 1)`);
  return `${row}.id = any(array(select id from ${cte})) and ${isWithin(row, lowest as string, highest as string)}`;
};

/** Leads to the partitions of these ids. With `or`, because an index would be read from the lowest to the highest. */
const isWithin = (row: string, lowest: string, highest: string): string =>
  `(${row}.id between ${lowest} and ${highest} or ${row}.id = ${lowest})`;

/** A delivery that is pending. PostgreSQL does not see that a partial index of pending rows would do. */
export const isPending = (row: string): string => `${row}.status || '' = 'pending'`;

/** An event that is not fanned out, likewise. */
export const IS_OPEN = `coalesce(fanned_out_at, 'infinity') = 'infinity'`;
