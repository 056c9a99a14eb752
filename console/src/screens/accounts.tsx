import { Plus } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { encoded } from '../api/address';
import { useSigned } from '../api/signed';
import type { Account } from '../api/types';
import { Heading } from '../parts/heading';
import { Icon } from '../parts/icon';
import { countText } from '../parts/numbers';
import { plainOf } from '../parts/plain';
import { Result } from '../parts/result';
import { TEXT } from '../text/en';
import { ConnectAccount } from './accounts/connect-account';
import { AccountState, LastReading, useNextReading } from './accounts/reading';
import { useAccounts } from './accounts/use-accounts';

const { accounts } = TEXT;
const { columns } = accounts;

/** Lists the accounts whose followers the service watches. */
export function AccountsScreen() {
  const { may } = useSigned();
  const [isOpen, setIsOpen] = useState(false);
  const mayManage = may('accounts:manage');
  return (
    <>
      <Heading title={accounts.title}>
        <button type="button" class="button main" disabled={!mayManage} onClick={() => setIsOpen(true)}>
          <Icon of={Plus} size={15} />
          {accounts.connect}
        </button>
      </Heading>
      <p class="muted">{accounts.says}</p>
      {mayManage ? <List /> : <p class="notice">{TEXT.lacks('accounts:manage')}</p>}
      {isOpen && <ConnectAccount onClose={() => setIsOpen(false)} />}
    </>
  );
}

function List() {
  const all = useAccounts();
  return (
    <Result of={all} what={accounts.title} lines={4}>
      {(rows) =>
        rows.length === 0 ? (
          <section class="empty">
            <h2>{accounts.none}</h2>
            <p class="muted">{accounts.firstList}</p>
          </section>
        ) : (
          <AccountTable rows={rows} />
        )
      }
    </Result>
  );
}

const AccountTable = ({ rows }: { rows: readonly Account[] }) => (
  <div class="card">
    <table class="data accounts">
      <thead>
        <tr>
          <th scope="col">{columns.account}</th>
          <th scope="col" class="end">
            {columns.followers}
          </th>
          <th scope="col">{columns.last}</th>
          <th scope="col">{columns.next}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((account) => (
          <Row key={account.id} account={account} />
        ))}
      </tbody>
    </table>
  </div>
);

function Row({ account }: { account: Account }) {
  const next = useNextReading(account);
  return (
    <tr>
      <td class="first">
        <Link class="name" href={encoded`/accounts/${account.id}`}>
          {plainOf(account.handle)}
        </Link>
        <span class="sub">{accounts.providers[account.provider]}</span>
      </td>
      <td class="end number">
        <span class="on-card">{columns.followers} </span>
        {account.followersCount === null ? '–' : countText(account.followersCount)}
      </td>
      <td class="last">
        <AccountState account={account} />
        <p>
          <LastReading account={account} />
        </p>
      </td>
      <td class="next">
        <span class="on-card">{columns.next}: </span>
        {next}
      </td>
    </tr>
  );
}
