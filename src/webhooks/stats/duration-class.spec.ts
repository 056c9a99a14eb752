import fc from 'fast-check';
import { durationClassOf, middleOf, percentileMs } from './duration-class';

/** The bounds that PostgreSQL's width_bucket uses. */
const BOUNDS = (/'\{(.*)\}'/.exec(durationClassOf('x'))?.[1] ?? '').split(',').map(Number);
const classOf = (ms: number) => BOUNDS.filter((bound) => bound <= ms).length;

describe('A duration class', () => {
  it('has a midpoint that is at most 20 % off, from 0 ms to the longest timeout', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60_000 }), (ms) => {
        expect(Math.abs(middleOf(classOf(ms)) - ms)).toBeLessThanOrEqual(0.2 * ms);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('percentileMs', () => {
  it('is within 20 % of the value at the nearest rank', () => {
    const durations = fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(durations, fc.constantFrom(0.5, 0.95), (all, share) => {
        const counts = new Map<number, number>();
        for (const ms of all) counts.set(classOf(ms), (counts.get(classOf(ms)) ?? 0) + 1);
        const exact = all.toSorted((a, b) => a - b)[Math.ceil(share * all.length) - 1] ?? NaN;
        expect(Math.abs((percentileMs(counts, share) ?? NaN) - exact)).toBeLessThanOrEqual(0.2 * exact);
      }),
    );
  });

  it('is null without responses', () => {
    expect(percentileMs(new Map(), 0.5)).toBeNull();
  });
});
