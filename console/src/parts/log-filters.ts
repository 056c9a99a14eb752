import { useMemo } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import { type ApiPath, encoded, type Query } from '../api/address';

/** The filters of the log; each stands in the address of the screen, so that it can be kept and passed on. */
export const FILTERS = [
  ...['webhookId', 'state', 'status', 'givenUp', 'event', 'subject', 'error', 'responseStatus', 'trigger', 'eventId'],
  ...['since', 'until', 'last'],
] as const;
export type FilterName = (typeof FILTERS)[number];

/** Spans of time up to now, in milliseconds. */
export const LAST: Readonly<Record<string, number>> = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 };

/** The filters of the address, and ways to change them. */
export function useLogFilters() {
  const [search, setSearch] = useSearchParams();
  const filters = Object.fromEntries(
    FILTERS.flatMap((name) => {
      const values = search.getAll(name);
      return values.length === 0 ? [] : [[name, values.length === 1 ? values[0] : values]];
    }),
  ) as Query;
  const { webhookId, last, ...query } = filters;
  const span = LAST[String(last)];
  // Once for each choice: a query that changed with each second would load without end.
  const since = useMemo(() => span && new Date(Date.now() - span).toISOString(), [span]);
  if (since) query.since = since;
  const path: ApiPath = typeof webhookId === 'string' ? encoded`webhooks/${webhookId}/deliveries` : 'deliveries';
  const change = (name: FilterName, values: readonly string[]) =>
    setSearch((before) => {
      before.delete(name);
      // The service takes one way of asking for a state.
      if (name === 'state') for (const other of ['status', 'givenUp']) before.delete(other);
      for (const value of values) if (value !== '') before.append(name, value);
      return before;
    });
  return {
    filters,
    change,
    /** The list that these filters are about. */
    path,
    query,
  };
}
