import type { Session } from '../api/session-shape';
import { Dialog } from '../parts/dialog';
import { TokenForm } from '../parts/token-form';
import { TEXT } from '../text/en';

/** Over the page when the token has ended: one goes on where one was. */
export const SignInAgain = ({ ended, onSession }: { ended: Session; onSession: (next: Session) => void }) => (
  <Dialog title={TEXT.signIn.again}>
    <p>{ended.isByLink ? TEXT.signIn.endedByLink : TEXT.signIn.ended}</p>
    <TokenForm onSession={onSession} />
  </Dialog>
);

/** A link was opened in a tab that has the session of somebody else: nobody is signed in unasked. */
export function AnotherUser({
  now,
  other,
  onStay,
  onSwitch,
}: {
  now: Session;
  other: Session;
  onStay: () => void;
  onSwitch: (next: Session) => void;
}) {
  return (
    <Dialog title={TEXT.signIn.anotherUser} onClose={onStay}>
      <p>{TEXT.signIn.anotherUserIs(now.userId, other.userId)}</p>
      <p class="actions">
        <button type="button" class="button" onClick={onStay}>
          {TEXT.signIn.stay(now.userId)}
        </button>
        <button type="button" class="button main" onClick={() => onSwitch(other)}>
          {TEXT.signIn.change(other.userId)}
        </button>
      </p>
    </Dialog>
  );
}
