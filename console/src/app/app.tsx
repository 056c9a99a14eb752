import { QueryClientProvider } from '@tanstack/preact-query';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Router } from 'wouter-preact';
import { CONSOLE_PATH } from '../api/base';
import { CallError } from '../api/call';
import { newClient } from '../api/client';
import { session, signInByCode, type Session } from '../api/session';
import { SignedProvider, useSession, useSignedValue } from '../api/signed';
import { Loading } from '../parts/loading';
import { SignIn } from '../screens/sign-in';
import { TEXT } from '../text/en';
import { Shell } from './shell';
import { AnotherUser, SignInAgain } from './sign-in-again';

/** Who is nobody yet signs in; who is somebody sees the screens. */
export function App({ code }: { code: string | null }) {
  const current = useSession();
  // What one user has seen is not there for the next.
  const client = useMemo(newClient, [current?.userId]);
  const [isEnded, setEnded] = useState(false);
  const [opened, setOpened] = useState<Session | null>(null);
  const [opening, setOpening] = useState(code !== null);
  const [refusal, setRefusal] = useState<string | null>(null);
  // A token that was replaced meanwhile may end as it likes.
  const signed = useSignedValue(current, () => setEnded(session.get() === current));

  useEffect(() => {
    if (code === null) return;
    signInByCode(code)
      .then((next) => (current && current.userId !== next.userId ? setOpened(next) : session.set(next)))
      .catch((error: unknown) => setRefusal(error instanceof CallError ? error.message : TEXT.cannotReach))
      .finally(() => setOpening(false));
  }, []);

  // With the next token everything that is seen is asked for again.
  useEffect(() => void client.invalidateQueries(), [current?.token]);

  const take = (next: Session) => {
    setEnded(false);
    setOpened(null);
    session.set(next);
  };

  if (opening && !current) return <Loading what={TEXT.signIn.opening} />;
  if (!signed) return <SignIn refusal={refusal} onSession={take} />;
  return (
    <QueryClientProvider client={client} key={signed.session.userId}>
      <SignedProvider value={signed}>
        <Router base={CONSOLE_PATH}>
          <Shell />
        </Router>
        {isEnded && <SignInAgain ended={signed.session} onSession={take} />}
        {opened && <AnotherUser now={signed.session} other={opened} onStay={() => setOpened(null)} onSwitch={take} />}
      </SignedProvider>
    </QueryClientProvider>
  );
}
