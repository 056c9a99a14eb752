import type { Session } from '../api/session';
import { Heading } from '../parts/heading';
import { TokenForm } from '../parts/token-form';
import { TEXT } from '../text/en';

/** @param refusal why the link that was opened does not sign in; null without one */
export const SignIn = ({ refusal, onSession }: { refusal: string | null; onSession: (next: Session) => void }) => (
  <main class="sign-in" id="main">
    <Heading title={TEXT.signIn.title} />
    {refusal && (
      <p class="problem" role="alert">
        {refusal}
      </p>
    )}
    <TokenForm onSession={onSession} />
    <p class="muted small">{TEXT.signIn.where}</p>
  </main>
);
