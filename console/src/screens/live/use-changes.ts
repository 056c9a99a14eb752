import { useEffect, useReducer, useState } from 'preact/hooks';
import type { ApiPath, Query } from '../../api/address';
import { CallError } from '../../api/call';
import { useSigned } from '../../api/signed';
import type { Delivery } from '../../api/types';
import { untilSeen } from './until-seen';

const WAIT_SECONDS = 20;
const AFTER_ERROR_MS = 5000;
const BEGIN_AGAIN_MS = 1000;
const BEGIN_WITH = 50;
export const MOST_ROWS = 250;

interface Seen {
  shown: readonly Delivery[];
  /** Since `shown` was last brought up to date, newest first; each row once. */
  waiting: readonly Delivery[];
}

type Change = { begin: readonly Delivery[] } | { rows: readonly Delivery[] } | 'show' | 'clear';

/** Rows are never pushed under the pointer: those that are shown change their state, others wait for a click. */
function reduce({ shown, waiting }: Seen, change: Change): Seen {
  if (change === 'clear') return { shown: [], waiting: [] };
  if (change === 'show') return { shown: [...waiting, ...shown].slice(0, MOST_ROWS), waiting: [] };
  if ('begin' in change) return { shown: change.begin, waiting: [] };
  const newest = new Map(change.rows.map((row) => [row.id, row]));
  const take = (row: Delivery): Delivery => {
    const next = newest.get(row.id);
    newest.delete(row.id);
    return next ?? row;
  };
  const [now, later] = [shown.map(take), waiting.map(take)];
  return { shown: now, waiting: [...[...newest.values()].reverse(), ...later].slice(0, MOST_ROWS) };
}

/** Follows the log: the newest rows, and what changes from then on. A cursor that is too old begins again. */
export function useChanges(path: ApiPath, query: Query, isPaused: boolean) {
  const { api } = useSigned();
  const [seen, dispatch] = useReducer(reduce, { shown: [], waiting: [] });
  const [error, setError] = useState<unknown>(null);
  const [perSecond, setPerSecond] = useState(0);
  const filters = JSON.stringify(query);

  useEffect(() => {
    if (isPaused) return;
    const over = new AbortController();
    let changes = 0;
    const timer = setInterval(() => {
      setPerSecond(changes);
      changes = 0;
    }, 1000);
    const begin = async (): Promise<string> => {
      const { signal } = over;
      const now = await api.page<Delivery>(path, { ...query, changedAfter: 'now' }, { signal });
      const list = await api.page<Delivery>(path, { ...query, limit: BEGIN_WITH }, { signal });
      dispatch({ begin: list.rows });
      return now.nextCursor ?? 'now';
    };
    const next = async (changedAfter: string): Promise<string> => {
      const options = { signal: over.signal, timeoutMs: (WAIT_SECONDS + 10) * 1000 };
      const wanted = { ...query, changedAfter, limit: 1000, waitSeconds: WAIT_SECONDS };
      const { rows, nextCursor } = await api.page<Delivery>(path, wanted, options);
      changes += rows.length;
      if (rows.length > 0) dispatch({ rows });
      return nextCursor ?? changedAfter;
    };
    const follow = async () => {
      let cursor: string | null = null;
      while (!over.signal.aborted) {
        try {
          await untilSeen(over.signal);
          cursor = cursor === null ? await begin() : await next(cursor);
          setError(null);
        } catch (failure) {
          if (over.signal.aborted) return;
          const { status, code, retryAfter } =
            failure instanceof CallError ? failure : { status: 0, code: null, retryAfter: null };
          // The page asks for another token, and follows with that.
          if (status === 401) return;
          // The page was hidden for longer than a cursor is valid.
          const isTooOld = code === 'cursor_invalid';
          if (isTooOld) cursor = null;
          else setError(failure);
          await pause(isTooOld ? BEGIN_AGAIN_MS : retryAfter ? retryAfter * 1000 : AFTER_ERROR_MS);
        }
      }
    };
    void follow();
    return () => {
      over.abort();
      clearInterval(timer);
      setPerSecond(0);
    };
  }, [api, isPaused, path, filters]);

  return { ...seen, perSecond, error, show: () => dispatch('show'), clear: () => dispatch('clear') };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
