/** Somebody who sleeps. */
export interface Sleeper {
  /** Ends the sleep under way, if there is one. */
  wake: () => void;
}

/** Sleeps for `ms`, until `sleeper` is woken, or until the signal is aborted. */
export function sleep(ms: number, sleeper: Sleeper, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    sleeper.wake = end;
    signal.addEventListener('abort', end);
  });
}
