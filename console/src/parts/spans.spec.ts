import type { StatsStep } from '../api/types';
import { barsOf } from './spans';

const step = (i: number): StatsStep => ({
  ...{ from: String(i), succeeded: i, failed: 1, canceled: 0, p50Ms: null, p95Ms: null, byError: {} },
});
const steps = (count: number) => Array.from({ length: count }, (_, i) => step(i));

describe('The bars of a span', () => {
  it.each([
    ['1 h', 12, 12],
    ['24 h', 288, 72],
    ['7 d', 168, 84],
    ['30 d', 30, 30],
  ] as const)('of %s sum up %i steps in %i bars', (span, count, bars) => {
    const found = barsOf(steps(count), span);
    expect(found).toHaveLength(bars);
    expect(found.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe((count * (count - 1)) / 2);
    expect(found.reduce((sum, { failed }) => sum + failed, 0)).toBe(count);
  });

  it('are filled from the end: the first may be shorter, and begins when its first step does', () => {
    const found = barsOf(steps(6), '24 h');
    expect(found.map(({ from, succeeded }) => [from, succeeded])).toEqual([
      ['0', 1],
      ['2', 14],
    ]);
  });
});
