const HIDDEN_MS = 300_000;

let hiddenSince = Infinity;
document.addEventListener('visibilitychange', () => {
  hiddenSince = document.hidden ? performance.now() : Infinity;
});

/** Resolves at once when somebody looks at the page, or has within five minutes; otherwise when somebody does. */
export function untilSeen(signal: AbortSignal): Promise<void> {
  if (!document.hidden || performance.now() - hiddenSince < HIDDEN_MS) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      document.removeEventListener('visibilitychange', end);
      resolve();
    };
    document.addEventListener('visibilitychange', end);
    signal.addEventListener('abort', end, { once: true });
  });
}
