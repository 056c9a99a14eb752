import { useEffect, useRef, useState } from 'preact/hooks';
import { type ReceivedRequest, verifyInPage } from '../../api/signature';
import type { Verified } from './answer';
import { firstDifference } from './first-difference';

const TOLERANCE_SECONDS = 300;

/** Verifies in the page; the last request wins, and nothing goes on after the page is left. */
export function useVerify(sent: ReceivedRequest | null) {
  const [verified, setVerified] = useState<Verified | null>(null);
  const [isBusy, setBusy] = useState(false);
  const running = useRef<AbortController>();
  const stop = () => {
    running.current?.abort();
    setBusy(false);
  };
  useEffect(() => () => running.current?.abort(), []);

  const run = async (request: ReceivedRequest, secret: string, computed: string) => {
    stop();
    const { signal } = (running.current = new AbortController());
    setBusy(true);
    const options = { secret, toleranceSeconds: TOLERANCE_SECONDS, nowMs: Date.now() };
    const asReceived = { ...options, ...(computed !== '' && { computed }) };
    try {
      const found = await verifyInPage(request, asReceived, signal);
      const isSameBody = sent !== null && firstDifference(sent.body, request.body) === null;
      const before = sent && { request: sent, found: await verifyInPage(sent, options, signal), isSameBody };
      setVerified({ request, found, sent: before });
      setBusy(false);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  };
  const reset = () => {
    stop();
    setVerified(null);
  };
  return { verified, isBusy, run, reset };
}
