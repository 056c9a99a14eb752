import { TimeSlices } from './time-slices.timer';

/** Keeps the processor busy. */
const work = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

describe('TimeSlices', () => {
  it('lets I/O run after each slice, however many callers work at the same time', async () => {
    const slices = new TimeSlices(5);
    let [pieces, most, done] = [0, 0, false];
    // Counts the pieces of work between two turns of the event loop.
    const watch = (): void => {
      most = Math.max(most, pieces);
      pieces = 0;
      if (!done) setImmediate(watch);
    };
    setImmediate(watch);
    const caller = async () => {
      for (let i = 0; i < 10; i++) {
        await slices.next();
        work(2);
        pieces += 1;
      }
    };
    await Promise.all(Array.from({ length: 10 }, caller));
    done = true;
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(3);
  });

  it('does not leave the slice for short pieces of work', async () => {
    const slices = new TimeSlices(60_000);
    await slices.next();
    let turns = 0;
    setImmediate(() => (turns += 1));
    for (let i = 0; i < 1000; i++) await slices.next();
    expect(turns).toBe(0);
  });
});
