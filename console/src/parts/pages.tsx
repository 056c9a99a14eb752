import { useInfiniteQuery } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import type { ApiPath, Query } from '../api/address';
import { useSigned } from '../api/signed';
import type { Page } from '../api/types';
import { TEXT } from '../text/en';
import { Loading } from './loading';
import { Problem } from './problem';

const PAGE = 50;

/** A list of the service, page after page. */
export function Pages<T>({
  path,
  query = {},
  what,
  size = PAGE,
  everyMs = false,
  empty,
  children,
}: {
  /** Such as `webhooks`. */
  path: ApiPath;
  query?: Query;
  /** What is being loaded, for who does not see it. */
  what: string;
  /** How many rows come at once. */
  size?: number;
  /** After how many milliseconds it is read again; false: not by itself. */
  everyMs?: number | false | ((rows: readonly T[]) => number | false);
  /** Shown instead of an empty list. */
  empty: ComponentChildren;
  children: (rows: readonly T[]) => ComponentChildren;
}) {
  const { api } = useSigned();
  const list = useInfiniteQuery({
    queryKey: ['list', path, query, size],
    queryFn: ({ pageParam, signal }) =>
      api.page<T>(path, { ...query, limit: size, cursor: pageParam ?? undefined }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }: Page<T>) => nextCursor,
    refetchInterval: ({ state }) => (typeof everyMs === 'function' ? everyMs(rowsOf(state.data)) : everyMs),
  });
  const rows = rowsOf(list.data);
  return (
    <>
      {list.isError && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading what={what} lines={8} />}
      {rows.length > 0 && children(rows)}
      {list.isSuccess && rows.length === 0 && (list.hasNextPage ? <p class="muted">{TEXT.noneYet}</p> : empty)}
      {list.hasNextPage && (
        <button type="button" class="button" disabled={list.isFetching} onClick={() => void list.fetchNextPage()}>
          {TEXT.showMore}
        </button>
      )}
    </>
  );
}

const rowsOf = <T,>(data: { pages: Page<T>[] } | undefined): readonly T[] =>
  data?.pages.flatMap(({ rows }) => rows) ?? [];
