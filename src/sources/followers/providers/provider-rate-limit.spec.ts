import { rateLimitWaitMs } from './provider-answer';

const NOW = new Date('2026-01-15T09:30:00.000Z');

describe('rateLimitWaitMs', () => {
  it.each<[Record<string, string | string[]>, number]>([
    [{ 'retry-after': '90' }, 90_000],
    [{ 'retry-after': 'Thu, 15 Jan 2026 09:31:00 GMT' }, 60_000],
    [{ 'x-ratelimit-reset': '2026-01-15T09:35:00.123456Z' }, 300_123],
    [{ 'ratelimit-reset': '1768469700' }, 300_000],
    [{ 'ratelimit-reset': '45' }, 45_000],
    [{ 'retry-after': '5', 'x-ratelimit-reset': '2026-01-15T10:30:00Z' }, 5000],
    [{ 'retry-after': 'soon', 'x-ratelimit-reset': '2026-01-15T10:30:00Z' }, 3_600_000],
    [{ 'retry-after': '999999999' }, 86_400_000],
    [{ 'x-ratelimit-reset': '2020-01-01T00:00:00Z' }, 0],
    [{ 'retry-after': ['1', '2'] }, 0],
    [{ 'retry-after': '-5' }, 0],
    [{}, 0],
  ])('reads %j as %i ms', (headers, ms) => {
    expect(rateLimitWaitMs(headers, NOW)).toBe(ms);
  });
});
