import type { Session } from '../api/session-shape';
import { Heading } from '../parts/heading';
import { At } from '../parts/time';
import { TokenForm } from '../parts/token-form';
import { TEXT } from '../text/en';

export const SignIn = ({
  refusal,
  unended,
  onEnd,
  onSession,
}: {
  /** Why the link that was opened does not sign in; null without one. */
  refusal: string | null;
  /** The session that could not be ended at sign-out; null without one. */
  unended: Session | null;
  onEnd: (unended: Session) => void;
  onSession: (next: Session) => void;
}) => (
  <main class="sign-in" id="main">
    <Heading title={TEXT.signIn.title} />
    {refusal && (
      <p class="problem" role="alert">
        {refusal}
      </p>
    )}
    {unended && (
      <div class="problem" role="alert">
        <p>
          {TEXT.signIn.unended} {unended.expiresAt && <At at={unended.expiresAt} />}
        </p>
        <button type="button" class="button" onClick={() => onEnd(unended)}>
          {TEXT.tryAgain}
        </button>
      </div>
    )}
    <TokenForm onSession={onSession} />
    <p class="muted small">{TEXT.signIn.where}</p>
  </main>
);
