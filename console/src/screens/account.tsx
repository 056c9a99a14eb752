import { ChevronRight } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { Link, useParams } from 'wouter-preact';
import { useSigned } from '../api/signed';
import type { Account } from '../api/types';
import { CopyButton } from '../parts/copy';
import { Heading } from '../parts/heading';
import { Icon } from '../parts/icon';
import { countText } from '../parts/numbers';
import { plainOf } from '../parts/plain';
import { Result } from '../parts/result';
import { Tile, Tiles } from '../parts/tile';
import { agoOf, At, lengthOf, useNow } from '../parts/time';
import { TEXT } from '../text/en';
import { AccountEvents } from './accounts/account-events';
import { DisconnectAccount } from './accounts/disconnect-account';
import { nextReadingOf } from './accounts/next-reading';
import { PushFollowers } from './accounts/push-followers';
import { AccountState, LastReading, useNextReading } from './accounts/reading';
import { useAccount } from './accounts/use-accounts';

const { accounts } = TEXT;

/** One account: its list, its readings and its events. */
export function AccountScreen() {
  const { may } = useSigned();
  if (may('accounts:manage')) return <Found />;
  return (
    <>
      <Heading title={accounts.one} />
      <p class="notice">{TEXT.lacks('accounts:manage')}</p>
    </>
  );
}

function Found() {
  const { id = '' } = useParams();
  const account = useAccount(id);
  const [isOpen, setIsOpen] = useState(false);
  const handle = account.data && plainOf(account.data.handle);
  return (
    <>
      <nav class="crumbs" aria-label={TEXT.nav.crumbs}>
        <Link href="/accounts">{accounts.title}</Link>
        <Icon of={ChevronRight} size={12} />
        {handle && <span>{handle}</span>}
      </nav>
      <Heading title={handle ?? accounts.one}>
        {account.data && (
          <button type="button" class="button" onClick={() => setIsOpen(true)}>
            {accounts.disconnect}
          </button>
        )}
      </Heading>
      <Result of={account} what={accounts.one} missing={accounts.missing}>
        {(found) => (
          <>
            <About account={found} />
            <Figures account={found} />
            {found.provider === 'push' && <PushFollowers account={found} />}
            <AccountEvents account={found} />
          </>
        )}
      </Result>
      {isOpen && account.data && <DisconnectAccount account={account.data} onClose={() => setIsOpen(false)} />}
    </>
  );
}

const About = ({ account }: { account: Account }) => (
  <>
    <div class="about">
      <AccountState account={account} />
      <span class="muted">{accounts.providers[account.provider]}</span>
      <CopyButton text={account.id} label={accounts.id} />
    </div>
    <p class={account.lastError === null ? '' : 'notice'}>
      <LastReading account={account} />
    </p>
  </>
);

function Figures({ account }: { account: Account }) {
  const now = useNow();
  const text = useNextReading(account);
  const next = nextReadingOf(account, now);
  const { followersCount, lastReadAt, createdAt, intervalSeconds, provider } = account;
  return (
    <Tiles>
      <Tile name={accounts.columns.followers} value={followersCount === null ? '–' : countText(followersCount)} />
      <Tile
        name={provider === 'push' ? accounts.lastList : accounts.columns.last}
        value={lastReadAt ? agoOf(lastReadAt, now) : accounts.never}
        note={lastReadAt && <At at={lastReadAt} />}
      />
      <Tile
        name={accounts.columns.next}
        value={next.when === 'in' ? accounts.next.soon(lengthOf(next.leftMs)) : '–'}
        note={next.when === 'in' ? accounts.every(lengthOf(1000 * intervalSeconds)) : text}
      />
      <Tile name={accounts.connected} value={agoOf(createdAt, now)} note={<At at={createdAt} />} />
    </Tiles>
  );
}
