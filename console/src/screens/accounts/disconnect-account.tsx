import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useLocation } from 'wouter-preact';
import { encoded } from '../../api/address';
import { useSigned } from '../../api/signed';
import type { Account } from '../../api/types';
import { ApiCall } from '../../parts/api-call';
import { Dialog } from '../../parts/dialog';
import { plainOf } from '../../parts/plain';
import { Problem } from '../../parts/problem';
import { TEXT } from '../../text/en';

const { accounts } = TEXT;

/** Asks before an account is disconnected, and says what follows. */
export function DisconnectAccount({ account, onClose }: { account: Account; onClose: () => void }) {
  const { api } = useSigned();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const path = encoded`accounts/${account.id}`;
  const disconnect = useMutation({
    mutationFn: () => api.send('DELETE', path),
    onSuccess: () => {
      go('/accounts');
      void queries.invalidateQueries({ queryKey: ['accounts'] });
    },
  });
  return (
    <Dialog title={accounts.disconnectThis(plainOf(account.handle))} onClose={onClose}>
      <p>{accounts.stops(account.followersCount)}</p>
      <p>{accounts.stays}</p>
      <p>{accounts.baseline}</p>
      {disconnect.isError && <Problem error={disconnect.error} />}
      <p class="actions">
        <button type="button" class="button" onClick={onClose}>
          {TEXT.cancel}
        </button>
        <button type="button" class="button danger" disabled={disconnect.isPending} onClick={() => disconnect.mutate()}>
          {accounts.disconnect}
        </button>
      </p>
      <ApiCall method="DELETE" path={path} />
    </Dialog>
  );
}
