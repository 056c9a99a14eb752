import { useState } from 'preact/hooks';
import { useSigned } from '../api/signed';
import type { Token } from '../api/types';
import { Heading } from '../parts/heading';
import { Pages } from '../parts/pages';
import { plainOf } from '../parts/plain';
import { Ago, At } from '../parts/time';
import { TEXT } from '../text/en';
import { NewToken } from './tokens/new-token';
import { RevokeToken } from './tokens/revoke-token';

/** There are at most 100 of a user, and 20 sessions. */
const MOST = 250;

/** Who may act as this user, and since when. */
export function TokensScreen() {
  const { may, session } = useSigned();
  const [toRevoke, setToRevoke] = useState<Token | null>(null);
  const [all, setAll] = useState<readonly Token[]>([]);
  if (!may('tokens:manage'))
    return (
      <>
        <Heading title={TEXT.nav.tokens} />
        <p class="notice">{TEXT.lacks('tokens:manage')}</p>
      </>
    );
  return (
    <>
      <Heading title={TEXT.nav.tokens} />
      <NewToken />
      <Pages<Token> path="tokens" query={{ userId: session.userId }} size={MOST} what={TEXT.nav.tokens} empty={null}>
        {(rows) => (
          <TokenRows
            rows={asTree(rows)}
            onRevoke={(token) => {
              setAll(rows);
              setToRevoke(token);
            }}
          />
        )}
      </Pages>
      {toRevoke && <RevokeToken token={toRevoke} others={all} onClose={() => setToRevoke(null)} />}
    </>
  );
}

/** A token, and how many it is away from one that was made with none of these. */
interface Branch {
  token: Token;
  depth: number;
}

/** The tokens as a tree: each below the token that created it. */
function asTree(tokens: readonly Token[]): Branch[] {
  const ids = new Set(tokens.map(({ id }) => id));
  const under = (id: string | null, depth: number): Branch[] =>
    tokens
      .filter(({ madeBy }) => (id === null ? madeBy === null || !ids.has(madeBy) : madeBy === id))
      .flatMap((token) => [{ token, depth }, ...under(token.id, depth + 1)]);
  return under(null, 0);
}

function TokenRows({ rows, onRevoke }: { rows: readonly Branch[]; onRevoke: (token: Token) => void }) {
  const { session } = useSigned();
  const { columns } = TEXT.tokens;
  return (
    <table class="log tokens">
      <thead>
        <tr>
          <th scope="col">{columns.name}</th>
          <th scope="col">{columns.scopes}</th>
          <th scope="col">{columns.ends}</th>
          <th scope="col">{columns.used}</th>
          <th scope="col">
            <span class="unseen">{TEXT.tokens.revoke}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ token, depth }) => (
          <tr key={token.id}>
            <td>
              <span aria-hidden="true" class="muted">
                {depth > 0 && `${'  '.repeat(depth - 1)}└ `}
              </span>
              {plainOf(token.name)}{' '}
              {token.id === session.tokenId ? (
                <span class="badge good">{TEXT.tokens.thisOne}</span>
              ) : (
                token.session && <span class="badge calm">{TEXT.tokens.session}</span>
              )}
            </td>
            <td class="small muted">{token.scopes.join(', ')}</td>
            <td>{token.expiresAt ? <At at={token.expiresAt} /> : TEXT.tokens.never}</td>
            <td>
              <span class="on-card">{columns.used} </span>
              <Ago at={token.lastUsedAt} none={TEXT.tokens.unused} />
            </td>
            <td class="end">
              <button
                type="button"
                class="button"
                aria-label={`${TEXT.tokens.revoke} ${plainOf(token.name)}`}
                onClick={() => onRevoke(token)}
              >
                {TEXT.tokens.revoke}
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
