const DAY_MS = 86_400_000;

/** The settings that decide how long a retry waits. */
interface RetryDelays {
  maxRetries: number;
  retryBaseDelayMs: number;
  retryFactor: number;
  retryJitter: number;
}

/**
 * No delivery waits longer than this for its due time, in ms: the longest delay between retries, and at least a day, so that rows
 * of a longer schedule are not due at once when the settings are lowered. `Retry-After` asks for less.
 */
export function longestWaitMs({ maxRetries, retryBaseDelayMs, retryFactor, retryJitter }: RetryDelays): number {
  const longestMs = retryBaseDelayMs * retryFactor ** Math.max(maxRetries - 1, 0);
  return Math.round(Math.max(longestMs, DAY_MS) * (1 + retryJitter));
}
