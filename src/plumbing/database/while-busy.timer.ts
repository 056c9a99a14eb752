import { setTimeout as pause } from 'node:timers/promises';

const AGAIN_AFTER_MS = 50;

/** Tries again as long as the answer is 'busy': somebody has locked the row, and waiting for the lock would make others wait. */
export async function whileBusy<Answer>(action: () => Promise<Answer | 'busy'>): Promise<Answer> {
  for (;;) {
    const answer = await action();
    if (answer !== 'busy') return answer;
    await pause(AGAIN_AFTER_MS);
  }
}
