import { setTimeout as pause } from 'node:timers/promises';
import { WebhookServiceError } from 'webhook-notification';

const RETRY_AFTER_MS = 1000;

/** Repeats calls while the service is unavailable, and says once that it is, and once that it is back. */
export class Outage {
  /** Whether the last call failed. */
  isOn = false;

  constructor(private readonly say: (sentence: string) => void) {}

  /**
   * Repeats the call every second until the service answers.
   * @throws WebhookServiceError when the service rejects it; after the abort of the signal, any error
   */
  async outlast<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      try {
        const answer = await call();
        if (this.isOn) this.say('The service is available again.');
        this.isOn = false;
        return answer;
      } catch (error) {
        if (signal.aborted || !isTransient(error)) throw error;
        if (!this.isOn) this.say(`The service is unavailable, retrying every second: ${error.message}`);
        this.isOn = true;
        await pauseUnless(signal, RETRY_AFTER_MS);
      }
    }
  }
}

/** Waits, at most until the signal is aborted. Never throws. */
export async function pauseUnless(signal: AbortSignal, ms: number): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined);
}

/** Whether a retry may succeed. While the service restarts, a proxy may return any status. */
function isTransient(error: unknown): error is WebhookServiceError {
  if (!(error instanceof WebhookServiceError)) return false;
  const { status, fromService } = error;
  return status === null || !fromService || status === 429 || status >= 500;
}
