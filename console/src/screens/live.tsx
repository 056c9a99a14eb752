import { useEffect, useRef, useState } from 'preact/hooks';
import { DeliveryRows } from '../parts/delivery-rows';
import { FilterBar } from '../parts/filter-bar';
import { Heading } from '../parts/heading';
import { useLogFilters } from '../parts/log-filters';
import { Problem } from '../parts/problem';
import { TEXT } from '../text/en';
import { MOST_ROWS, useChanges } from './live/use-changes';

/** What changes at this moment. */
export function LiveScreen() {
  const { path, query } = useLogFilters();
  const [isPaused, setPaused] = useState(false);
  const { shown, waiting, perSecond, error, show, clear } = useChanges(path, query, isPaused);
  const said = useNowAndThen(waiting.length > 0 ? TEXT.live.more(waiting.length, waiting.length === MOST_ROWS) : '');
  return (
    <>
      <Heading title={TEXT.live.title} />
      <FilterBar hasSpans={false} />
      <div class="actions bar">
        <button type="button" class="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {TEXT.live.pause}
        </button>
        <button type="button" class="button" onClick={clear}>
          {TEXT.live.clear}
        </button>
        <span class="number muted">{TEXT.live.rate(perSecond)}</span>
        {waiting.length > 0 && (
          <button type="button" class="button main" onClick={show}>
            {TEXT.live.more(waiting.length, waiting.length === MOST_ROWS)}
          </button>
        )}
      </div>
      <span class="unseen" role="status">
        {said}
      </span>
      {error !== null && <Problem error={error} />}
      {shown.length > 0 ? <DeliveryRows rows={shown} /> : <p class="muted">{TEXT.live.waits}</p>}
    </>
  );
}

const SAY_EVERY_MS = 5000;

/** The text as it was at most five seconds ago: who listens is not told of each change. */
function useNowAndThen(text: string): string {
  const [said, setSaid] = useState(text);
  const newest = useRef(text);
  newest.current = text;
  useEffect(() => {
    const timer = setInterval(() => setSaid(newest.current), SAY_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return said;
}
