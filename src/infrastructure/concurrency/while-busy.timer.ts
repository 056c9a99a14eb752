import { setTimeout as pause } from 'node:timers/promises';

const AGAIN_AFTER_MS = 50;

/**
 * Retries while the action returns 'busy': another transaction has locked the row, and waiting for its lock would block
 * others.
 */
export async function whileBusy<Answer>(action: () => Promise<Answer | 'busy'>): Promise<Answer> {
  for (;;) {
    const answer = await action();
    if (answer !== 'busy') return answer;
    await pause(AGAIN_AFTER_MS);
  }
}
