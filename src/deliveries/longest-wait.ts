import { DAY_MS } from '../infrastructure/config/durations';

interface RetryDelays {
  maxRetries: number;
  retryBaseDelayMs: number;
  retryFactor: number;
  retryJitter: number;
}

/**
 * Returns the longest time in ms that a delivery can wait for its due time: the longest retry delay, but at least a day, so that
 * rows of a longer schedule do not become due at once when the settings are lowered. A webhook's own delays are at most a day,
 * too. A `Retry-After` wait is always shorter.
 */
export function longestWaitMs({ maxRetries, retryBaseDelayMs, retryFactor, retryJitter }: RetryDelays): number {
  const longestMs = retryBaseDelayMs * retryFactor ** Math.max(maxRetries - 1, 0);
  return Math.round(Math.max(longestMs, DAY_MS) * (1 + retryJitter));
}
