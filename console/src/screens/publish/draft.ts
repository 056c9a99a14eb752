import { CONSOLE_PATH } from '../../api/base';
import { ofBrowser } from '../../api/storage';

export type Audience = 'me' | 'user' | 'everybody';

/** The entered values without the idempotency key: publishing with the same key returns the first event. */
export interface Draft {
  event: string;
  text: string;
  /** Empty: none. */
  subject: string;
  audience: Audience;
  userId: string;
}

const NAME = 'publishDraft';
const AUDIENCES: readonly unknown[] = ['me', 'user', 'everybody'] satisfies Audience[];

/** The draft in the current history entry: Back and a reload restore it, a new visit starts without one. */
export const draft = {
  /** Returns the draft of this user; null for none, and for that of another user. */
  read(owner: string): Draft | null {
    const { [NAME]: kept } = (history.state ?? {}) as Record<string, unknown>;
    return isDraftOf(owner, kept) ? kept : null;
  },

  keep(owner: string, next: Draft): void {
    history.replaceState({ ...(history.state as object | null), [NAME]: { ...next, owner } }, '');
  },
};

function isDraftOf(owner: string, value: unknown): value is Draft {
  const { event, text, subject, audience, userId, owner: kept } = (value ?? {}) as Record<string, unknown>;
  const areTexts = [event, text, subject, userId].every((each) => typeof each === 'string');
  return areTexts && kept === owner && AUDIENCES.includes(audience);
}

const keyOf = (userId: string): string => `webhooks.event ${CONSOLE_PATH} ${userId}`;

/** The event type that this user last published from this browser. */
export const lastEvent = {
  read: (userId: string): string | null => ofBrowser.getItem(keyOf(userId)),
  keep: (userId: string, event: string): void => ofBrowser.setItem(keyOf(userId), event),
};
