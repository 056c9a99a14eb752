import { useQueryClient } from '@tanstack/preact-query';
import { useLocation } from 'wouter-preact';
import { encoded } from '../../api/address';
import type { Account } from '../../api/types';
import { ConfirmDeletion } from '../../parts/confirm-deletion';
import { plainOf } from '../../parts/plain';
import { TEXT } from '../../text/en';

const { accounts } = TEXT;

/** Asks before an account is disconnected, and says what follows. */
export function DisconnectAccount({ account, onClose }: { account: Account; onClose: () => void }) {
  const [, go] = useLocation();
  const queries = useQueryClient();
  const leave = () => {
    go('/accounts');
    void queries.invalidateQueries({ queryKey: ['accounts'] });
  };
  return (
    <ConfirmDeletion
      title={accounts.disconnectThis(plainOf(account.handle))}
      path={encoded`accounts/${account.id}`}
      action={accounts.disconnect}
      onDeleted={leave}
      onClose={onClose}
    >
      <p>{accounts.stops(account.followersCount)}</p>
      <p>{accounts.stays}</p>
      <p>{accounts.baseline}</p>
    </ConfirmDeletion>
  );
}
