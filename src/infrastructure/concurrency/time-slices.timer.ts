import { setImmediate } from 'node:timers/promises';
import { Semaphore } from './semaphore';

/**
 * Divides CPU work into slices, between which the event loop handles I/O. All callers share the slices, so together they
 * hold the event loop no longer than one caller would.
 */
export class TimeSlices {
  private readonly turn = new Semaphore(1);
  /** By `performance.now()`. */
  private endsAt = 0;

  /** @param sliceMs the length of a slice, without the last piece of work in it */
  constructor(private readonly sliceMs: number) {}

  /** Resolves when the caller may do its next piece of work: at once while the slice lasts, otherwise after I/O. */
  async next(): Promise<void> {
    await this.turn.acquire();
    if (performance.now() >= this.endsAt) {
      await setImmediate();
      this.endsAt = performance.now() + this.sliceMs;
    }
    this.turn.release();
  }
}
