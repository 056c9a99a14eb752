import { repeatWaitMs } from './repeat-wait';

const NOW = Date.UTC(2026, 0, 15, 9, 30);

describe('repeatWaitMs', () => {
  it.each([
    ['0', 0],
    ['2', 2_000],
    [' 7 ', 7_000],
    ['60', 60_000],
    ['3600', 60_000],
    ['Thu, 15 Jan 2026 09:30:05 GMT', 5_000],
    ['Thursday, 15-Jan-26 09:30:05 GMT', 5_000],
    ['Thu Jan 15 09:30:05 2026 GMT', 5_000],
    ['Thu, 15 Jan 2026 09:29:00 GMT', 0],
    ['Thu, 15 Jan 2026 19:30:00 GMT', 60_000],
  ])('is the delay of retry-after: %s, at most a minute', (retryAfter, ms) => {
    expect(repeatWaitMs(retryAfter, 0, NOW, 0.5)).toBe(ms);
  });

  it.each([null, '', 'soon', '-1', '1.5', '2026-01-15', 'Thu, when it suits'])(
    'is a backoff that doubles when retry-after is %j',
    (retryAfter) => {
      const waits = (random: number) => [0, 1, 2, 20].map((repeats) => repeatWaitMs(retryAfter, repeats, NOW, random));
      expect(waits(0)).toEqual([250, 500, 1_000, 60_000]);
      expect(waits(0.5)).toEqual([500, 1_000, 2_000, 60_000]);
      expect(waits(1)).toEqual([750, 1_500, 3_000, 60_000]);
    },
  );
});
