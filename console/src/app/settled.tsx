import { useQueryClient } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading } from '../parts/loading';
import { TEXT } from '../text/en';

/** One answer can cause another query: a screen is shown after this time without pending queries. */
const QUIET_MS = 30;
/** A slow answer delays the screen by at most this. */
const MOST_MS = 1000;

/**
 * Shows a screen when its first queries are answered, so that nothing on it moves.
 * @param onSettled called when it is shown
 */
export function Settled({ children, onSettled }: { children: ComponentChildren; onSettled: () => void }) {
  const queries = useQueryClient();
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    let quiet: ReturnType<typeof setTimeout> | undefined;
    const latest = setTimeout(() => setShown(true), MOST_MS);
    const look = () => {
      const isWaiting = queries.isFetching({ predicate: ({ state }) => state.status === 'pending' }) > 0;
      if (isWaiting) {
        clearTimeout(quiet);
        quiet = undefined;
      } else quiet ??= setTimeout(() => setShown(true), QUIET_MS);
    };
    look();
    const stop = queries.getQueryCache().subscribe(look);
    return () => {
      stop();
      clearTimeout(latest);
      clearTimeout(quiet);
    };
  }, []);
  useEffect(() => {
    if (isShown) onSettled();
  }, [isShown]);
  return (
    <>
      {!isShown && (
        <div class="unsettled">
          <Loading what={TEXT.loading} lines={6} />
        </div>
      )}
      <div class={isShown ? 'screen' : 'screen hidden'}>{children}</div>
    </>
  );
}
