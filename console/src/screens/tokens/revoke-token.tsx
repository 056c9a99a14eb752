import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { encoded } from '../../api/address';
import { useSigned } from '../../api/signed';
import type { Token } from '../../api/types';
import { ApiCall } from '../../parts/api-call';
import { Dialog } from '../../parts/dialog';
import { plainOf } from '../../parts/plain';
import { Problem } from '../../parts/problem';
import { TEXT } from '../../text/en';

/** Asks first, and names what ends with it. */
export function RevokeToken({
  token,
  others,
  onClose,
}: {
  token: Token;
  others: readonly Token[];
  onClose: () => void;
}) {
  const { api } = useSigned();
  const queries = useQueryClient();
  const falling = madeWith(token, others);
  const path = encoded`tokens/${token.id}`;
  const revoke = useMutation({
    mutationFn: () => api.send('DELETE', path),
    onSuccess: async () => {
      onClose();
      await queries.invalidateQueries();
    },
  });
  return (
    <Dialog title={TEXT.tokens.revokeThis(plainOf(token.name))} onClose={onClose}>
      <p>{TEXT.tokens.atOnce}</p>
      {falling.length > 0 && <p>{TEXT.tokens.falling(falling.map(({ name }) => plainOf(name)).join(', '))}</p>}
      {revoke.isError && <Problem error={revoke.error} />}
      <p class="actions">
        <button type="button" class="button" onClick={onClose}>
          {TEXT.cancel}
        </button>
        <button type="button" class="button main" disabled={revoke.isPending} onClick={() => revoke.mutate()}>
          {TEXT.tokens.revoke}
        </button>
      </p>
      <ApiCall method="DELETE" path={path} />
    </Dialog>
  );
}

/** The tokens that were made with this one, and with those. */
function madeWith({ id }: Token, others: readonly Token[]): Token[] {
  const made = others.filter(({ madeBy }) => madeBy === id);
  return [...made, ...made.flatMap((each) => madeWith(each, others))];
}
