import { setTimeout as pause } from 'node:timers/promises';
import type { Gathering } from './batcher';

/** When the next batch begins: as soon as one of these is true. */
interface Patience {
  /** The batch before was not larger than this. */
  unlessAbove: number;
  /** No item has arrived for this long. */
  quietMs: number;
  /** The batch before began this long ago. */
  withinMs: number;
  /** This many items wait. */
  enough: number;
}

/** Waits for more items between batches. Many small batches wake processes all the time; fewer are done sooner. */
export const gatherFor =
  ({ unlessAbove, quietMs, withinMs, enough }: Patience): Gathering =>
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
