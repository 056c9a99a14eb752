import type { Account } from '../../api/types';

/** When an account is read next. `in` has the time that is left, in ms. */
export type NextReading = { when: 'push' | 'first' | 'retry' | 'now' } | { when: 'in'; leftMs: number };

type Read = Pick<Account, 'provider' | 'lastReadAt' | 'lastError' | 'intervalSeconds'>;

/**
 * Estimates when the service reads an account next: one interval after its last reading. The service does not say when
 * the last reading failed, so that there is no estimate after an error.
 */
export function nextReadingOf({ provider, lastReadAt, lastError, intervalSeconds }: Read, now: number): NextReading {
  if (provider === 'push') return { when: 'push' };
  if (lastError !== null) return { when: 'retry' };
  if (lastReadAt === null) return { when: 'first' };
  const leftMs = Date.parse(lastReadAt) + 1000 * intervalSeconds - now;
  return leftMs > 0 ? { when: 'in', leftMs } : { when: 'now' };
}

/** Whether the service is about to read the account for the first time. */
export const isFirstDue = (account: Read): boolean => nextReadingOf(account, 0).when === 'first';
