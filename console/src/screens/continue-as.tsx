import type { Session } from '../api/session-shape';
import { Heading } from '../parts/heading';
import { plainOf } from '../parts/plain';
import { TEXT } from '../text/en';

/** A link was opened in a tab without a session: nobody is signed in unasked, not even who is signed out. */
export function ContinueAs({
  offered,
  onSession,
  onCancel,
}: {
  offered: Session;
  onSession: (next: Session) => void;
  onCancel: () => void;
}) {
  const user = plainOf(offered.userId);
  return (
    <main class="sign-in" id="main">
      <Heading title={TEXT.signIn.title} />
      <p>{TEXT.signIn.byLink(user)}</p>
      <p class="muted small">{TEXT.signIn.onlyYours}</p>
      <p class="actions">
        <button type="button" class="button" onClick={onCancel}>
          {TEXT.cancel}
        </button>
        <button type="button" class="button main" onClick={() => onSession(offered)}>
          {TEXT.signIn.continueAs(user)}
        </button>
      </p>
    </main>
  );
}
