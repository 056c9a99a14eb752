import { Api, CallError } from './call';
import { refusedInFrame } from './frame';
import { session } from './session';
import type { Session } from './session-shape';
import type { Me, Scope } from './types';

/** Token of a link's session that nobody has agreed to yet. It is in memory alone, and ends with the page. */
let offered: string | null = null;

addEventListener('pagehide', declineOffer);

/**
 * Makes a session of a token that somebody has pasted. The token itself is kept nowhere.
 * @throws CallError 401 for a token that is not good
 */
export const signInWith = (token: string): Promise<Session> => begin(new Api(token), {}).then(described(false));

/**
 * Exchanges the code of a link. The session ends with the page, unless `accept` is called before.
 * @throws CallError 401 for a code that was used, or is too old
 */
export async function openLink(code: string): Promise<Session> {
  offered = await begin(new Api(null), { code });
  try {
    return await described(true)(offered);
  } catch (error) {
    declineOffer();
    throw error;
  }
}

/**
 * Signs a frame in with the code of a link. Returns the scopes for which it is refused; the session has then ended.
 * @throws CallError as `openLink` does
 */
export async function enterFrame(code: string): Promise<readonly Scope[]> {
  const next = await openLink(code);
  const refused = refusedInFrame(next.scopes);
  if (refused.length > 0) declineOffer();
  else accept(next);
  return refused;
}

/** Signs this tab in. A link's session that is offered, and is another one, ends. */
export function accept(next: Session): void {
  if (offered === next.token) offered = null;
  else declineOffer();
  session.set(next);
}

/** Ends the session of a link that nobody has agreed to, if there is one. */
export function declineOffer(): void {
  if (offered) void endSession({ token: offered }).catch(() => undefined);
  offered = null;
}

/**
 * Ends a session at the service. The request outlives the page.
 * @throws CallError when the service has not confirmed it
 */
export async function endSession({ token }: Pick<Session, 'token'>): Promise<void> {
  try {
    await new Api(token).call('DELETE', 'console-sessions', { keepalive: true });
  } catch (error) {
    // It has ended already.
    if (!(error instanceof CallError && error.status === 401)) throw error;
  }
}

/** Forgets the session of this tab, and tells the others to. Returns it: it is still to be ended at the service. */
export function leave(): Session | null {
  const left = session.get();
  session.forget();
  if (left) session.tellToLeave(left);
  return left;
}

/**
 * Forgets the session of this tab because another tab has signed out.
 * @param ended id of the session that the other tab has ended already
 */
export function leaveToo(ended: string | null): void {
  const left = session.get();
  session.forget();
  if (left && left.tokenId !== ended) void endSession(left).catch(() => undefined);
}

const begin = async (api: Api, body: { code?: string }): Promise<string> =>
  (await api.send<{ token: string }>('POST', 'console-sessions', body)).token;

const described =
  (isByLink: boolean) =>
  async (token: string): Promise<Session> => {
    const { userId, scopes, expiresAt, tokenId } = await new Api(token).get<Me>('me');
    return { token, userId, scopes, expiresAt, tokenId, isByLink };
  };
