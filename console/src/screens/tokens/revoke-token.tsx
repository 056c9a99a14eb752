import { useQueryClient } from '@tanstack/preact-query';
import { encoded } from '../../api/address';
import { useSigned } from '../../api/signed';
import type { Token } from '../../api/types';
import { ConfirmDeletion } from '../../parts/confirm-deletion';
import { TEXT } from '../../text/en';
import { useTokenName } from './token-name';
import { fallingWith } from './token-tree';

const { tokens } = TEXT;

/** Asks before a token is revoked, and names the tokens that are revoked with it. */
export function RevokeToken({
  token,
  others,
  onClose,
}: {
  token: Token;
  others: readonly Token[];
  onClose: () => void;
}) {
  const { session } = useSigned();
  const queries = useQueryClient();
  const nameOf = useTokenName();
  const falling = fallingWith(token, others);
  const renew = () => {
    onClose();
    return queries.invalidateQueries();
  };
  return (
    <ConfirmDeletion
      title={tokens.revokeThis(nameOf(token))}
      path={encoded`tokens/${token.id}`}
      action={tokens.revoke}
      onDeleted={renew}
      onClose={onClose}
    >
      <p>{tokens.atOnce}</p>
      {falling.length > 0 && (
        <div>
          <p id="falling">{tokens.falling(falling.length)}</p>
          <ul class="falling" aria-labelledby="falling">
            {falling.map((each) => (
              <li key={each.id}>
                {nameOf(each)}
                {each.id === session.tokenId && ` (${tokens.theSession})`}
              </li>
            ))}
          </ul>
        </div>
      )}
      {token.scopes.includes('users:manage') && <p>{tokens.ofOthers}</p>}
      {[token, ...falling].some(({ id }) => id === session.tokenId) && <p class="notice">{tokens.signsOut}</p>}
    </ConfirmDeletion>
  );
}
