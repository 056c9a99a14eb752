import { DAY_MS } from '../../../infrastructure/config/durations';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const MAX_WAIT_MS = DAY_MS;
/** Smaller numbers are seconds from now; larger ones are seconds since 1970. */
const EARLIEST_UNIX_SECONDS = 1_000_000_000;

/**
 * Returns how long to wait, in ms, before the next request to a provider, at most a day. Reads `retry-after` (RFC 9110,
 * seconds or a date), else `x-ratelimit-reset` (Mastodon: an ISO 8601 time), else `ratelimit-reset` (Bluesky: seconds
 * since 1970). Returns 0 if none of them is valid.
 */
export function rateLimitWaitMs(headers: Headers, now: Date): number {
  const given = [headers['retry-after'], headers['x-ratelimit-reset'], headers['ratelimit-reset']];
  const waits = given.filter((text) => typeof text === 'string').map((text) => waitMs(text, now));
  const wait = waits.find((ms) => !Number.isNaN(ms)) ?? 0;
  return Math.min(Math.max(wait, 0), MAX_WAIT_MS);
}

function waitMs(text: string, now: Date): number {
  if (!/^\d{1,12}$/.test(text)) return Date.parse(text) - now.getTime();
  const seconds = Number(text);
  return seconds < EARLIEST_UNIX_SECONDS ? seconds * 1000 : seconds * 1000 - now.getTime();
}
