const LONGEST_MS = 60_000;
const FIRST_BACKOFF_MS = 500;

/** Returns the delay before a retry in ms: the value of `retry-after`, otherwise a backoff; at most a minute. */
export function repeatWaitMs(retryAfter: string | null, repeats: number, nowMs: number, random: number): number {
  return Math.min(LONGEST_MS, retryAfterMs(retryAfter, nowMs) ?? backoffMs(repeats, random));
}

/** Parses `retry-after` (RFC 9110, section 10.2.3: seconds or an HTTP date) as ms from now; null when missing or invalid. */
function retryAfterMs(value: string | null, nowMs: number): number | null {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const atMs = /^[A-Z][a-z]{2,8},? .+$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

/** Doubles with each retry and varies by half at random (0 to 1), so that clients do not all come back at once. */
function backoffMs(repeats: number, random: number): number {
  return FIRST_BACKOFF_MS * 2 ** repeats * (0.5 + random);
}
