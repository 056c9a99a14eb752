import { Clock } from 'lucide-preact';
import { useSigned } from '../../api/signed';
import type { Token } from '../../api/types';
import { Pill } from '../../parts/pill';
import { Ago, At, lengthOf, useNow } from '../../parts/time';
import { TEXT } from '../../text/en';
import { useTokenName } from './token-name';
import { type Branch, endsSoonIn, type Parent } from './token-tree';

const { tokens } = TEXT;

interface Marks {
  parent: Parent;
  onRevoke: (token: Token) => void;
}

/** The tokens in lists within lists: each contains the tokens that are revoked with it. */
export const TokenList = ({ branches, ...marks }: { branches: readonly Branch[] } & Marks) => (
  // Safari takes a list without bullets for no list.
  <ul role="list" class="branches">
    {branches.map(({ token, children }) => (
      <li key={token.id}>
        <TokenRow token={token} {...marks} />
        {children.length > 0 && <TokenList branches={children} {...marks} />}
      </li>
    ))}
  </ul>
);

function TokenRow({ token, parent, onRevoke }: { token: Token } & Marks) {
  const name = useTokenName()(token);
  return (
    <div class="token">
      <div class="what">
        <span class="name">{name}</span> <TokenMark token={token} parent={parent} />
        <p class="muted small">{token.scopes.join(', ')}</p>
      </div>
      <dl>
        <div>
          <dt>{tokens.ends}</dt>
          <dd>{token.expiresAt ? <Expiry token={token} at={token.expiresAt} /> : tokens.never}</dd>
        </div>
        <div>
          <dt>{tokens.used}</dt>
          <dd>
            <Ago at={token.lastUsedAt} none={tokens.unused} />
          </dd>
        </div>
      </dl>
      <button
        type="button"
        class="button small"
        aria-label={`${tokens.revoke} ${name}`}
        onClick={() => onRevoke(token)}
      >
        {tokens.revoke}
      </button>
    </div>
  );
}

function TokenMark({ token, parent }: { token: Token; parent: Parent }) {
  const { session } = useSigned();
  if (token.id === session.tokenId) return <span class="badge good plain-word">{tokens.theSession}</span>;
  if (parent.kind === 'token' && parent.token.id === token.id)
    return <span class="badge calm plain-word">{tokens.theParent}</span>;
  return null;
}

function Expiry({ token, at }: { token: Token; at: string }) {
  const leftMs = endsSoonIn(token, useNow());
  return (
    <>
      <At at={at} />
      {leftMs !== null && (
        <>
          {' '}
          <Pill tone="wait" icon={Clock}>
            {tokens.expiresIn(lengthOf(leftMs))}
          </Pill>
        </>
      )}
    </>
  );
}
