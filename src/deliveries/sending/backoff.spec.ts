import fc from 'fast-check';
import { retryAfterMs, retryDelayMs } from './backoff';
import { HOUR_MS } from '../../infrastructure/config/durations';

const schedule = { maxRetries: 3, retryBaseDelayMs: 30_000, retryFactor: 8, retryJitter: 0.2 };
const MIDDLE = 0.5;

describe('The delay before a retry', () => {
  it('is 30 s, 4 min and 32 min, then null', () => {
    const waits = [1, 2, 3, 4, 5].map((attempt) => retryDelayMs(attempt, schedule, MIDDLE));
    expect(waits).toEqual([30_000, 240_000, 1_920_000, null, null]);
  });

  it('varies by ±20 %', () => {
    expect(retryDelayMs(1, schedule, 0)).toBe(24_000);
    expect(retryDelayMs(1, schedule, 1 - Number.EPSILON)).toBe(36_000);
    expect(retryDelayMs(3, schedule, 0)).toBe(1_536_000);
    expect(retryDelayMs(3, schedule, 1 - Number.EPSILON)).toBe(2_304_000);
  });

  it('is null when no retries are configured', () => {
    expect(retryDelayMs(1, { ...schedule, maxRetries: 0 }, MIDDLE)).toBeNull();
  });

  const schedules = fc.record({
    maxRetries: fc.constant(3),
    retryBaseDelayMs: fc.integer({ min: 10, max: 86_400_000 }),
    retryFactor: fc.double({ min: 1, max: 10, noNaN: true }),
    retryJitter: fc.double({ min: 0, max: 0.5, noNaN: true }),
  });
  const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  it('is a whole number of ms within the jitter, for every valid schedule', () => {
    fc.assert(
      fc.property(schedules, fc.integer({ min: 1, max: 3 }), randoms, (any, attempt, random) => {
        const middle = any.retryBaseDelayMs * any.retryFactor ** (attempt - 1);
        const wait = retryDelayMs(attempt, any, random) ?? NaN;
        expect(Number.isSafeInteger(wait)).toBe(true);
        expect(wait).toBeGreaterThanOrEqual(Math.floor(middle * (1 - any.retryJitter)));
        expect(wait).toBeLessThanOrEqual(Math.ceil(middle * (1 + any.retryJitter)));
      }),
    );
  });

  it('grows with the random number', () => {
    fc.assert(
      fc.property(schedules, randoms, randoms, (any, a, b) => {
        const waits = [Math.min(a, b), Math.max(a, b)].map((random) => retryDelayMs(2, any, random) ?? NaN);
        expect(waits[0]).toBeLessThanOrEqual(waits[1] ?? NaN);
      }),
    );
  });
});

describe('Retry-After', () => {
  const now = new Date('2094-11-06T08:49:07Z');

  it.each<[header: string | string[] | undefined, ms: number]>([
    ['5', 5000],
    ['0', 0],
    ['007', 7000],
    ['3600', HOUR_MS],
    ['3601', HOUR_MS],
    ['99999999', HOUR_MS],
    ['999999999999999', HOUR_MS],
    ['Sat, 06 Nov 2094 08:49:37 GMT', 30_000],
    ['Sat, 06 Nov 2094 08:49:07 GMT', 0],
    ['Sat, 06 Nov 2094 08:49:06 GMT', 0],
    ['Sat, 06 Nov 2094 09:49:08 GMT', HOUR_MS],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Fri, 31 Dec 9999 23:59:59 GMT', HOUR_MS],
  ])('%p requests a delay of %i ms', (header, ms) => {
    expect(retryAfterMs(header, now)).toBe(ms);
  });

  it.each([
    ['IMF-fixdate', 'Sun, 06 Nov 1994 08:49:37 GMT'],
    ['RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT'],
    ['asctime', 'Sun Nov  6 08:49:37 1994'],
  ])('accepts the %s format of RFC 9110, 5.6.7, in any time zone of this process', (_, header) => {
    expect(retryAfterMs(header, new Date('1994-11-06T08:49:07Z'))).toBe(30_000);
  });

  it.each([undefined, [], ['5', '5'], '', '-1', '+5', '1.5', '1e3', '0x10', '5s', '5, 5', 'garbage', 'PT5M', 'NaN'])(
    '%p requests no delay',
    (header) => {
      expect(retryAfterMs(header, now)).toBe(0);
    },
  );

  it.each(['wait 45', 'soon-2099', 'foo 2098', '2099-01-01 or so'])(
    '%p is not a date and requests no delay',
    (header) => {
      expect(retryAfterMs(header, new Date('2026-01-15T09:30:00Z'))).toBe(0);
    },
  );

  it('never requests more than an hour or a negative delay', () => {
    const headers = fc.oneof(
      fc.string(),
      fc.integer().map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    );
    fc.assert(
      fc.property(headers, (header) => {
        const ms = retryAfterMs(header, now);
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(HOUR_MS);
      }),
    );
  });
});
