const LONGEST_MS = 60_000;
const FIRST_BACKOFF_MS = 500;

/** How long to wait, in ms, before a request is repeated: what `retry-after` asks for, else a backoff; at most a minute. */
export function repeatWaitMs(retryAfter: string | null, repeats: number, nowMs: number, random: number): number {
  return Math.min(LONGEST_MS, retryAfterMs(retryAfter, nowMs) ?? backoffMs(repeats, random));
}

/** `retry-after` (RFC 9110, section 10.2.3: seconds or an HTTP date) in ms from now; null: there is none to understand. */
function retryAfterMs(value: string | null, nowMs: number): number | null {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const atMs = /^[A-Z][a-z]{2,8},? .+$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

/** Twice as long with each repeat, and varied by half at random (0 to 1), so that clients come back one by one. */
function backoffMs(repeats: number, random: number): number {
  return FIRST_BACKOFF_MS * 2 ** repeats * (0.5 + random);
}
