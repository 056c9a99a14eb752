import { useEffect, useState } from 'preact/hooks';
import { CallError } from '../api/call';
import { TEXT } from '../text/en';
import { CopyButton } from './copy';
import { plainOf } from './plain';

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Why something cannot be shown, in the words of the service, and what can be done. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { message, requestId, status, retryAfter } =
    error instanceof CallError ? error : { message: messageOf(error), requestId: null, status: null, retryAfter: null };
  return (
    <div class="problem" role="alert">
      <p>{plainOf(message)}</p>
      {requestId && (
        <p class="muted small">
          {TEXT.requestId} <code>{plainOf(requestId)}</code> <CopyButton text={requestId} />
        </p>
      )}
      {status === 429 && onRetry && <Countdown key={requestId} seconds={retryAfter ?? 60} onOver={onRetry} />}
      {onRetry && (
        <button type="button" class="button" onClick={onRetry}>
          {TEXT.tryAgain}
        </button>
      )}
    </div>
  );
}

/** Too much was asked for: it is tried again by itself when the service takes more. */
function Countdown({ seconds, onOver }: { seconds: number; onOver: () => void }) {
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    if (left <= 0) return onOver();
    const timer = setTimeout(() => setLeft(left - 1), 1000);
    return () => clearTimeout(timer);
  }, [left]);
  return <p class="number">{TEXT.tryingAgain(left)}</p>;
}
