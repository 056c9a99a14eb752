/** The settings that decide when a failed delivery is repeated. */
export interface RetrySchedule {
  maxRetries: number;
  retryBaseDelayMs: number;
  retryFactor: number;
  retryJitter: number;
}

const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * How long to wait, in ms, after failed attempt `attempt` (1 is the first): base × factor^(attempt-1), varied by
 * ±jitter. Null when no retry is left.
 * @param random from 0 (included) to 1 (excluded)
 */
export function retryDelayMs(attempt: number, schedule: RetrySchedule, random: number): number | null {
  if (attempt > schedule.maxRetries) return null;
  const delay = schedule.retryBaseDelayMs * schedule.retryFactor ** (attempt - 1);
  return Math.round(delay * (1 + schedule.retryJitter * (2 * random - 1)));
}

/**
 * The wait, in ms, that a `Retry-After` header asks for (RFC 9110, section 10.2.3: seconds or an HTTP date), at most
 * one hour. 0 when there is no such header, or its value makes no sense.
 */
export function retryAfterMs(header: string | string[] | undefined, now: Date): number {
  if (typeof header !== 'string') return 0;
  const waitMs = /^\d{1,15}$/.test(header) ? Number(header) * 1000 : httpDateMs(header) - now.getTime();
  return Number.isNaN(waitMs) ? 0 : Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS);
}

/** The forms of an HTTP date (RFC 9110, section 5.6.7), all in UTC: the preferred one, RFC 850's, and asctime's. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
];

function httpDateMs(text: string): number {
  if (!HTTP_DATES.some((form) => form.test(text))) return NaN;
  // V8 reads all three forms, but reads the one without a zone as local time.
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}
