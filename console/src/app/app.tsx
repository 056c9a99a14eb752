import { useEffect, useState } from 'preact/hooks';
import { CallError } from '../api/call';
import { session } from '../api/session';
import type { Session } from '../api/session-shape';
import { accept, declineOffer, endSession, leave, openLink } from '../api/sign-in';
import { useSession, useSignedValue } from '../api/signed';
import { Loading } from '../parts/loading';
import { ContinueAs } from '../screens/continue-as';
import { SignIn } from '../screens/sign-in';
import { TEXT } from '../text/en';
import { Screens } from './screens';
import { AnotherUser, SignInAgain } from './sign-in-again';

/** Who is nobody yet signs in; who is somebody sees the screens. */
export function App({ code }: { code: string | null }) {
  const current = useSession();
  const [isEnded, setEnded] = useState(false);
  const [opened, setOpened] = useState<Session | null>(null);
  const [opening, setOpening] = useState(code !== null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const [unended, setUnended] = useState<Session | null>(null);
  const end = (left: Session) =>
    void endSession(left).then(
      () => setUnended(null),
      () => setUnended(left),
    );
  const signOut = () => {
    const left = leave();
    if (left) end(left);
  };
  // A token that was replaced meanwhile may end as it likes.
  const signed = useSignedValue(current, () => setEnded(session.get() === current), signOut);

  useEffect(() => {
    if (code === null) return;
    openLink(code)
      .then((next) => (session.get()?.userId === next.userId ? take(next) : setOpened(next)))
      .catch((error: unknown) => setRefusal(error instanceof CallError ? error.message : TEXT.cannotReach))
      .finally(() => setOpening(false));
  }, []);

  const take = (next: Session) => {
    setEnded(false);
    setOpened(null);
    setUnended(null);
    accept(next);
  };

  const decline = () => {
    setOpened(null);
    declineOffer();
  };

  if (opening && !current) return <Loading what={TEXT.signIn.opening} />;
  if (!signed && opened) return <ContinueAs offered={opened} onSession={take} onCancel={decline} />;
  if (!signed) return <SignIn refusal={refusal} unended={unended} onEnd={end} onSession={take} />;
  return (
    <Screens signed={signed}>
      {isEnded && <SignInAgain ended={signed.session} onSession={take} />}
      {opened && <AnotherUser now={signed.session} other={opened} onStay={decline} onSwitch={take} />}
    </Screens>
  );
}
