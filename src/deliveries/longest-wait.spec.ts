import fc from 'fast-check';
import { longestWaitMs } from './longest-wait';
import { retryDelayMs } from './sending/backoff';
import { DAY_MS } from '../infrastructure/config/durations';

describe('The longest wait of a delivery', () => {
  it.each([
    ['a day with the default settings, and its jitter', [3, 30_000, 8, 0.2], 1.2 * DAY_MS],
    ['the last delay of a schedule of days', [3, DAY_MS, 10, 0.5], 150 * DAY_MS],
    ['a day without retries', [0, DAY_MS, 10, 0], DAY_MS],
  ] as const)('is %s', (_, [maxRetries, retryBaseDelayMs, retryFactor, retryJitter], expected) => {
    expect(longestWaitMs({ maxRetries, retryBaseDelayMs, retryFactor, retryJitter })).toBe(expected);
  });

  it('is never shorter than a retry delay', () => {
    const schedules = fc.record({
      maxRetries: fc.integer({ min: 0, max: 3 }),
      retryBaseDelayMs: fc.integer({ min: 10, max: DAY_MS }),
      retryFactor: fc.double({ min: 1, max: 10, noNaN: true }),
      retryJitter: fc.double({ min: 0, max: 0.5, noNaN: true }),
    });
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(schedules, fc.integer({ min: 1, max: 4 }), random, (schedule, attempt, at) => {
        expect(retryDelayMs(attempt, schedule, at) ?? 0).toBeLessThanOrEqual(longestWaitMs(schedule));
      }),
    );
  });
});
