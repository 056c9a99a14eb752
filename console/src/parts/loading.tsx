import { useEffect, useState } from 'preact/hooks';

const AFTER_MS = 150;

/** Lines of the height of what is to come, after a moment: what is quick does not flash. */
export function Loading({ what, lines = 4 }: { what: string; lines?: number }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return null;
  return (
    <div class="loading" role="status">
      <span class="unseen">{what}</span>
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} class="line" aria-hidden="true" />
      ))}
    </div>
  );
}
