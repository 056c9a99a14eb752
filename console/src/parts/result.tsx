import type { UseQueryResult } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { CallError } from '../api/call';
import { Loading } from './loading';
import { Problem } from './problem';

/** What was asked for; until it is there the room for it; and why not, when it cannot be had. Old data stays meanwhile. */
export function Result<T>({
  of,
  what,
  lines,
  missing,
  children,
}: {
  of: UseQueryResult<T>;
  /** What is being loaded, for who does not see it. */
  what: string;
  lines?: number;
  /** Said when it is not there, beside what the service says. */
  missing?: string;
  children: (data: T) => ComponentChildren;
}) {
  return (
    <>
      {of.isError && <Problem error={of.error} onRetry={() => void of.refetch()} />}
      {missing && of.error instanceof CallError && of.error.code === 'not_found' && <p class="muted">{missing}</p>}
      {of.data !== undefined ? children(of.data) : !of.isError && <Loading what={what} lines={lines} />}
    </>
  );
}
