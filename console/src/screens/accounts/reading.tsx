import { Check, Clock, X } from 'lucide-preact';
import type { Account } from '../../api/types';
import { Pill } from '../../parts/pill';
import { plainOf } from '../../parts/plain';
import { Ago, lengthOf, useNow } from '../../parts/time';
import { TEXT } from '../../text/en';
import { nextReadingOf } from './next-reading';

const { accounts } = TEXT;

/** Whether the list of an account is up to date. */
export function AccountState({ account: { lastError, lastReadAt } }: { account: Account }) {
  if (lastError !== null)
    return (
      <Pill tone="bad" icon={X}>
        {accounts.states.failed}
      </Pill>
    );
  return lastReadAt === null ? (
    <Pill tone="wait" icon={Clock}>
      {accounts.states.first}
    </Pill>
  ) : (
    <Pill tone="good" icon={Check}>
      {accounts.states.ok}
    </Pill>
  );
}

/** The last reading in a sentence: the error, or when and how many followers. */
export function LastReading({ account: { provider, lastReadAt, lastError, followersCount } }: { account: Account }) {
  const isPush = provider === 'push';
  const list = lastReadAt !== null && (
    <>
      <Ago at={lastReadAt} />: {accounts.followers(followersCount ?? 0)}
    </>
  );
  if (lastError !== null)
    return (
      <>
        <span class="fault">{plainOf(lastError)}</span>
        {list && (
          <span class="muted small">
            {' '}
            {accounts.lastList}: {list}
          </span>
        )}
      </>
    );
  if (!list) return <span class="muted">{isPush ? accounts.notPushed : accounts.notRead}</span>;
  return (
    <>
      {isPush ? accounts.pushed : accounts.read} {list}
    </>
  );
}

/** When the account is read next, in words. */
export function useNextReading(account: Account): string {
  const now = useNow();
  const next = nextReadingOf(account, now);
  if (next.when === 'in') return accounts.next.in(lengthOf(next.leftMs));
  return next.when === 'retry'
    ? accounts.next.retry(lengthOf(1000 * account.intervalSeconds))
    : accounts.next[next.when];
}
