import { useQueryClient } from '@tanstack/preact-query';
import { useEffect, useRef, useState } from 'preact/hooks';
import { CallError } from '../api/call';
import { useAboutQuery } from '../api/queries';
import { useSigned } from '../api/signed';
import { useNow } from '../parts/time';
import { TEXT } from '../text/en';

const MOST_MS = 30_000;
const EXPIRES_SOON_MS = 600_000;

/** What concerns the whole page: the service is away, was updated, or the session ends soon. */
export function Notices() {
  const { session } = useSigned();
  const now = useNow();
  const { nextAt, isOther } = useService();
  const leftMs = session.expiresAt ? Date.parse(session.expiresAt) - now : Infinity;
  return (
    <div class="notices" role="status">
      {nextAt !== null && <Away nextAt={nextAt} />}
      {isOther && (
        <p class="notice calm">
          {TEXT.notices.updated}{' '}
          <button type="button" class="button" onClick={() => location.reload()}>
            {TEXT.notices.reload}
          </button>
        </p>
      )}
      {leftMs < EXPIRES_SOON_MS && leftMs > 0 && (
        <p class="notice calm">{TEXT.notices.expires(Math.ceil(leftMs / 60_000))}</p>
      )}
    </div>
  );
}

function Away({ nextAt }: { nextAt: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return <p class="notice bad">{TEXT.notices.away(Math.max(0, Math.round((nextAt - now) / 1000)))}</p>;
}

/** Asks now and then which version answers; while none does, after one second, two, four, up to half a minute. */
function useService(): { nextAt: number | null; isOther: boolean } {
  const queries = useQueryClient();
  const first = useRef<string | null>(null);
  const failures = useRef(0);
  const [nextAt, setNextAt] = useState<number | null>(null);
  const about = useAboutQuery();
  const isAway = about.error instanceof CallError && about.error.status === 0;
  useEffect(() => {
    if (!isAway) {
      // What is visible is asked for again when the service is back.
      if (failures.current > 0) void queries.invalidateQueries();
      failures.current = 0;
      return setNextAt(null);
    }
    const delayMs = Math.min(MOST_MS, 1000 * 2 ** failures.current++) * (0.8 + 0.4 * Math.random());
    setNextAt(Date.now() + delayMs);
    const timer = setTimeout(() => void about.refetch(), delayMs);
    return () => clearTimeout(timer);
  }, [isAway, about.errorUpdatedAt]);
  const version = about.data?.version ?? null;
  first.current ??= version;
  return { nextAt, isOther: version !== null && first.current !== version };
}
