import { setTimeout as pause } from 'node:timers/promises';
import type { Gathering } from './batcher';

/**
 * Lets items arrive until there was none for `quietMs`, and at the longest until `withinMs` after the batch before began. Where
 * many small batches keep processes waking each other, fewer are less work, and sooner done.
 */
export const gatherFor =
  (quietMs: number, withinMs: number): Gathering =>
  () => {
    const until = performance.now() + withinMs;
    return async (waiting) => {
      let before: number;
      do {
        before = waiting();
        const leftMs = until - performance.now();
        if (leftMs <= 0) return;
        await pause(Math.min(quietMs, leftMs));
      } while (waiting() > before);
    };
  };
