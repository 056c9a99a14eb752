import { setTimeout as pause } from 'node:timers/promises';
import { LockedError } from '../errors/database-error';
import type { Linger } from './batcher';

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

const AGAIN_AFTER_MS = 50;

/**
 * Retries while the action returns 'busy': waiting for the lock of another transaction would block others.
 * @throws LockedError when it is still busy after `withinMs`
 */
export async function whileBusy<Answer>(action: () => Promise<Answer | 'busy'>, withinMs = Infinity): Promise<Answer> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const answer = await action();
    if (answer !== 'busy') return answer;
    if (performance.now() >= giveUpAt) throw new LockedError();
    await pause(AGAIN_AFTER_MS);
  }
}

/** Conditions for the next batch: it begins as soon as one of them is true. */
interface Patience {
  /** The previous batch was not larger than this. */
  unlessAbove: number;
  /** No item has arrived for this long. */
  quietMs: number;
  /** The previous batch began this long ago. */
  withinMs: number;
  /** This many items are waiting. */
  enough: number;
}

/** Waits for more items between batches: many small batches keep waking processes; fewer, larger ones finish sooner. */
export const lingerFor =
  ({ unlessAbove, quietMs, withinMs, enough }: Patience): Linger =>
  () => {
    const until = performance.now() + withinMs;
    return async (size, waiting) => {
      if (size <= unlessAbove) return;
      let before: number;
      do {
        before = waiting();
        const leftMs = until - performance.now();
        if (leftMs <= 0 || before >= enough) return;
        await pause(Math.min(quietMs, leftMs));
      } while (waiting() > before);
    };
  };
