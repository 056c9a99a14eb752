import { setTimeout as pause } from 'node:timers/promises';

/**
 * Only what hangs waits this long: ten times what the slowest wait takes on two quiet cores, and less than jest's timeout of a
 * test, so that a failure says what was awaited.
 */
export const PATIENCE_MS = 180_000;

interface Patience {
  /** What is awaited, for the message of a failure: "the second attempt". */
  what: string;
  /** Longer than `PATIENCE_MS`, unless the time is a promise of the service. */
  timeoutMs?: number;
  everyMs?: number;
}

type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>;

/**
 * Calls `probe` repeatedly until it returns a truthy value, and returns that. A probe that throws counts as
 * "not yet"; its last error is part of the message when the time is up.
 */
export async function waitFor<T>(probe: () => T | Promise<T>, patience: Patience): Promise<Truthy<T>> {
  const { what, timeoutMs = PATIENCE_MS, everyMs = 20 } = patience;
  const giveUpAt = performance.now() + timeoutMs;
  let lastError: unknown;
  do {
    try {
      const answer = await probe();
      if (answer) return answer as Truthy<T>;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    await pause(everyMs);
  } while (performance.now() < giveUpAt);
  throw new Error(`Timed out after ${timeoutMs} ms waiting for ${what}.`, { cause: lastError });
}
