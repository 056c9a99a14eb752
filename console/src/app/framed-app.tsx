import { useEffect, useState } from 'preact/hooks';
import { CallError } from '../api/call';
import { tellHost } from '../api/frame';
import { session } from '../api/session';
import { enterFrame } from '../api/sign-in';
import { useSession, useSignedValue } from '../api/signed';
import { Heading } from '../parts/heading';
import { Loading } from '../parts/loading';
import { TEXT } from '../text/en';
import { Screens } from './screens';

/** Why the frame has no session. */
interface Ended {
  reason: string;
  /** Whether the host page is told, which then requests another link. */
  isTold: boolean;
}

/** The console in a frame. The host page signs a user in by the code in the address. */
export function FramedApp({ code }: { code: string | null }) {
  const current = useSession();
  const [ended, setEnded] = useState<Ended | null>(null);
  const signed = useSignedValue(current, () => end(TEXT.frame.ended), null);
  const end = (reason: string, isTold = true) => {
    session.forget();
    // Several requests may find out at once.
    setEnded((before) => before ?? { reason, isTold });
  };

  useEffect(() => {
    if (code === null && !current) end(TEXT.frame.noSession);
    if (code === null) return;
    enterFrame(code).then(
      (refused) => refused.length > 0 && end(TEXT.frame.refused(refused), false),
      (error: unknown) => end(error instanceof CallError ? error.message : TEXT.cannotReach),
    );
  }, []);

  useEffect(() => {
    if (ended?.isTold) tellHost({ type: 'webhooks:session-ended' });
  }, [ended]);

  if (signed) return <Screens signed={signed} />;
  if (!ended) return <Loading what={TEXT.signIn.opening} />;
  return (
    <main class="sign-in" id="main">
      <Heading title={TEXT.frame.title} />
      <p role="alert">{ended.reason}</p>
    </main>
  );
}
