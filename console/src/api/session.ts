import { Api } from './call';
import type { CreatedToken, Me, Scope } from './types';

const KEY = 'webhooks.session';
const HOURS = 12;
const ASK_OTHERS_MS = 200;

/** Who is signed in in this tab. */
export interface Session {
  token: string;
  userId: string;
  scopes: readonly Scope[];
  /** Null: the token does not end. */
  expiresAt: string | null;
  tokenId: string | null;
  /** The console has made this token itself, or has it from a link: it is revoked at sign-out. */
  isOurs: boolean;
  /** There were too many tokens for one of its own: the tab has the one that was pasted. */
  isPasted: boolean;
  /** It came by a link: who opens the link again is signed in again. */
  isByLink: boolean;
}

let current: Session | null = null;
const listeners = new Set<() => void>();
const others = 'BroadcastChannel' in globalThis ? new BroadcastChannel(KEY) : null;

/** The session of this tab, out of memory; after a reload out of the tab's own storage, which dies with it. */
export const session = {
  get: (): Session | null => current,

  set(next: Session | null, keep = true): void {
    current = next;
    if (next && keep) sessionStorage.setItem(KEY, JSON.stringify(next));
    else sessionStorage.removeItem(KEY);
    listeners.forEach((listener) => listener());
  },

  /** Calls `listener` after each change, until the answered function is called. */
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

/** The session that this tab had before it was loaded again, or that another tab of the same browser has. */
export async function findSession(): Promise<Session | null> {
  const kept = parse(sessionStorage.getItem(KEY)) ?? (await askOtherTabs());
  others?.addEventListener('message', ({ data }) => {
    if (data === 'who?' && current) others.postMessage(current);
  });
  return kept;
}

/** @throws CallError 401 for a token that is not good */
export async function signInWith(token: string): Promise<Session> {
  const pasted = new Api(token);
  const me = await pasted.get<Me>('me');
  const mayMake = me.scopes.includes('tokens:manage') && endsLater(me);
  const shorter = mayMake ? await shorterToken(pasted, me) : null;
  return {
    token: shorter?.token ?? token,
    userId: me.userId,
    scopes: me.scopes,
    expiresAt: shorter?.expiresAt ?? me.expiresAt,
    tokenId: shorter?.id ?? me.tokenId,
    isOurs: shorter !== null,
    isPasted: mayMake && shorter === null,
    isByLink: false,
  };
}

/** @throws CallError 401 for a code that was used, or is too old */
export async function signInByCode(code: string): Promise<Session> {
  const { token } = await new Api(null).send<{ token: string }>('POST', 'console-sessions', { code });
  const me = await new Api(token).get<Me>('me');
  const { userId, scopes, expiresAt, tokenId } = me;
  return { token, userId, scopes, expiresAt, tokenId, isOurs: true, isPasted: false, isByLink: true };
}

/** Forgets the session, and ends its token where the console has made it. */
export async function signOut(): Promise<void> {
  const ended = current;
  session.set(null);
  if (!ended?.isOurs || !ended.tokenId || !ended.scopes.includes('tokens:manage')) return;
  await new Api(ended.token).send('DELETE', `tokens/${ended.tokenId}`).catch(() => undefined);
}

const endOfSession = (): number => Date.now() + HOURS * 3_600_000;

const endsLater = ({ expiresAt }: Me): boolean => !expiresAt || Date.parse(expiresAt) > endOfSession();

/** A token for this tab with the same scopes, which ends today; null where there are too many already. */
async function shorterToken(pasted: Api, { scopes }: Me): Promise<CreatedToken | null> {
  const name = `console ${new Date().toISOString().slice(0, 16).replace('T', ' ')}`;
  const body = { name, scopes, expiresAt: new Date(endOfSession()).toISOString() };
  return pasted.send<CreatedToken>('POST', 'tokens', body).catch(() => null);
}

function askOtherTabs(): Promise<Session | null> {
  return new Promise((resolve) => {
    if (!others) return resolve(null);
    const end = (found: Session | null) => {
      clearTimeout(timer);
      others.removeEventListener('message', take);
      resolve(found);
    };
    const take = ({ data }: MessageEvent) => data !== 'who?' && end(data as Session);
    const timer = setTimeout(() => end(null), ASK_OTHERS_MS);
    others.addEventListener('message', take);
    others.postMessage('who?');
  });
}

function parse(text: string | null): Session | null {
  try {
    return text ? (JSON.parse(text) as Session) : null;
  } catch {
    return null;
  }
}
