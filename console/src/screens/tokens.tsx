import { useQuery } from '@tanstack/preact-query';
import { Plus } from 'lucide-preact';
import { useRef, useState } from 'preact/hooks';
import { useAbout } from '../api/queries';
import { useSigned } from '../api/signed';
import type { CreatedToken, Token } from '../api/types';
import { Heading } from '../parts/heading';
import { Icon } from '../parts/icon';
import { Result } from '../parts/result';
import { TEXT } from '../text/en';
import { NewToken } from './tokens/new-token';
import { RevokeToken } from './tokens/revoke-token';
import { TokenList } from './tokens/token-list';
import { TokenShownOnce } from './tokens/token-shown-once';
import { parentOf, treeOf } from './tokens/token-tree';

const { tokens } = TEXT;
/** A user has at most 100, and 20 sessions. */
const MOST = 250;

/** Shows the tokens of this user: what they may do, how long, and which are revoked together. */
export function TokensScreen() {
  const { may } = useSigned();
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const mayManage = may('tokens:manage');
  return (
    <>
      <Heading title={TEXT.nav.tokens}>
        <button
          type="button"
          ref={button}
          class="button main"
          disabled={!mayManage}
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          <Icon of={Plus} size={15} />
          {tokens.make}
        </button>
      </Heading>
      {mayManage ? (
        <Tokens isOpen={isOpen} onClose={() => setIsOpen(false)} onDone={() => focusIfLost(button.current)} />
      ) : (
        <p class="notice">{TEXT.lacks('tokens:manage')}</p>
      )}
    </>
  );
}

/** Focuses an element, after the page has been updated, if the element that had the focus is gone. */
const focusIfLost = (next: HTMLElement | null): void =>
  void requestAnimationFrame(() => document.activeElement === document.body && next?.focus());

/** @param onDone called when a form or a dialog has closed */
function Tokens({ isOpen, onClose, onDone }: { isOpen: boolean; onClose: () => void; onDone: () => void }) {
  const { api, session } = useSigned();
  const about = useAbout();
  const [created, setCreated] = useState<CreatedToken | null>(null);
  const [toRevoke, setToRevoke] = useState<Token | null>(null);
  const close = (set: (next: null) => void) => {
    set(null);
    onDone();
  };
  const query = { userId: session.userId, limit: MOST };
  const all = useQuery({
    queryKey: ['tokens', session.userId],
    queryFn: async ({ signal }) => (await api.page<Token>('tokens', query, { signal })).rows,
  });
  const hasBootstrap = about?.bootstrapToken === true;
  const parent = parentOf(session, all.data ?? [], hasBootstrap);
  return (
    <Result of={all} what={TEXT.nav.tokens} lines={8}>
      {(rows) => (
        <>
          {isOpen && (
            <NewToken
              parent={parent}
              onCancel={() => {
                onClose();
                onDone();
              }}
              onCreated={(token) => {
                onClose();
                setCreated(token);
              }}
            />
          )}
          <section aria-labelledby="which">
            <h2 id="which">{tokens.list}</h2>
            <p class="muted small">
              {tokens.listSays} {hasBootstrap && tokens.bootstrap}
            </p>
            <div class="card tokens">
              <TokenList branches={treeOf(rows)} parent={parent} onRevoke={setToRevoke} />
            </div>
          </section>
          {created && <TokenShownOnce created={created} onClose={() => close(setCreated)} />}
          {toRevoke && <RevokeToken token={toRevoke} others={rows} onClose={() => close(setToRevoke)} />}
        </>
      )}
    </Result>
  );
}
