import { setTimeout as pause } from 'node:timers/promises';
import type { Gathering } from './batcher';

interface Patience {
  /** Goes on when nothing has arrived for so long, */
  quietMs: number;
  /** at the latest so long after the batch before began, */
  withinMs: number;
  /** or when so many wait. */
  enough: number;
}

/** Where many small batches keep processes waking each other, fewer are less work, and sooner done. */
export const gatherFor =
  ({ quietMs, withinMs, enough }: Patience): Gathering =>
  () => {
    const until = performance.now() + withinMs;
    return async (waiting) => {
      let before: number;
      do {
        before = waiting();
        const leftMs = until - performance.now();
        if (leftMs <= 0 || before >= enough) return;
        await pause(Math.min(quietMs, leftMs));
      } while (waiting() > before);
    };
  };
