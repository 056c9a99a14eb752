import { CONSOLE_PATH } from './base';
import { isFramed } from './frame';
import { type Message, messageFrom, type Session, sessionFrom } from './session-shape';
import { inTab } from './storage';

/** 0.2 kept sessions and pasted tokens under this name. */
const OLD_KEY = 'webhooks.session';
/** Of this console alone: a proxy may have put several on one origin, each behind a prefix. Frames share nothing with tabs. */
const KEY = `webhooks.${isFramed ? 'frame' : 'session'} ${CONSOLE_PATH}`;
const ASK_OTHERS_MS = 200;

let current: Session | null = null;
const listeners = new Set<() => void>();
const others = 'BroadcastChannel' in globalThis && !isFramed ? new BroadcastChannel(KEY) : null;

function change(next: Session | null): void {
  current = next;
  listeners.forEach((listener) => listener());
}

const tell = (message: Message): void => others?.postMessage(message);

/** The session of this tab, out of memory; after a reload out of the tab's own storage, which dies with it. */
export const session = {
  get: (): Session | null => current,

  set(next: Session, keep = true): void {
    if (keep) inTab.setItem(KEY, JSON.stringify(next));
    else inTab.removeItem(KEY);
    change(next);
  },

  /** Forgets the session. That the tab has none is kept: after a reload it does not ask the others. */
  forget(): void {
    inTab.setItem(KEY, 'null');
    change(null);
  },

  /** Tells the other tabs to forget theirs, too. */
  tellToLeave: ({ tokenId }: Session): void => tell({ kind: 'leave', tokenId }),

  /** Calls `listener` after each change, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

/**
 * Finds the session that this tab had before it was loaded again, or that another tab of the same browser has; from then on
 * answers other tabs.
 * @param onLeave called when another tab has signed out; `tokenId` says which session that has ended
 */
export async function findSession(onLeave: (tokenId: string | null) => void): Promise<Session | null> {
  inTab.removeItem(OLD_KEY);
  const kept = inTab.getItem(KEY);
  const found = kept === null ? await askOtherTabs() : parse(kept);
  others?.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const message = messageFrom(data);
    if (message?.kind === 'who' && current) tell({ kind: 'here', session: current });
    if (message?.kind === 'leave') onLeave(message.tokenId);
  });
  return found;
}

function askOtherTabs(): Promise<Session | null> {
  return new Promise((resolve) => {
    if (!others) return resolve(null);
    const end = (found: Session | null) => {
      clearTimeout(timer);
      others.removeEventListener('message', take);
      resolve(found);
    };
    const take = ({ data }: MessageEvent<unknown>) => {
      const message = messageFrom(data);
      if (message?.kind === 'here') end(message.session);
    };
    const timer = setTimeout(() => end(null), ASK_OTHERS_MS);
    others.addEventListener('message', take);
    tell({ kind: 'who' });
  });
}

function parse(text: string): Session | null {
  try {
    return sessionFrom(JSON.parse(text));
  } catch {
    return null;
  }
}
