import { HOUR_MS } from '../../infrastructure/config/durations';

export interface RetrySchedule {
  maxRetries: number;
  retryBaseDelayMs: number;
  retryFactor: number;
  retryJitter: number;
}

const MAX_RETRY_AFTER_MS = HOUR_MS;

/**
 * Returns the delay in ms after failed attempt `attempt` (1 is the first): base × factor^(attempt-1), varied by ±jitter. Null
 * when no retry is left.
 * @param random from 0 (included) to 1 (excluded)
 */
export function retryDelayMs(
  attempt: number,
  schedule: RetrySchedule,
  random: number,
  ownDelaysMs: readonly number[] | null = null,
): number | null {
  if (attempt > schedule.maxRetries) return null;
  const planned = schedule.retryBaseDelayMs * schedule.retryFactor ** (attempt - 1);
  const delay = ownDelaysMs ? ownDelaysMs[attempt - 1] : planned;
  if (delay === undefined) return null;
  return Math.round(delay * (1 + schedule.retryJitter * (2 * random - 1)));
}

/**
 * Returns the delay in ms that a `Retry-After` header requests (RFC 9110, section 10.2.3: seconds or an HTTP date), at most one
 * hour. 0 when the header is missing or invalid.
 */
export function retryAfterMs(header: string | string[] | undefined, now: Date): number {
  if (typeof header !== 'string') return 0;
  const waitMs = /^\d{1,15}$/.test(header) ? Number(header) * 1000 : httpDateMs(header) - now.getTime();
  return Number.isNaN(waitMs) ? 0 : Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS);
}

/** The formats of an HTTP date (RFC 9110, section 5.6.7), all in UTC: the preferred one, RFC 850's, and asctime's. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
];

function httpDateMs(text: string): number {
  if (!HTTP_DATES.some((form) => form.test(text))) return NaN;
  // V8 parses all three formats, but treats the one without a time zone as local time.
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}
