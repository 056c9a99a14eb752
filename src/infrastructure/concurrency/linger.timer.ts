import { setTimeout as pause } from 'node:timers/promises';
import type { Linger } from './batcher';

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
