import type { FetchAnswer, FetchRequest, Settings } from './client-options';

/** A response that was read completely. */
export interface Answered {
  kind: 'answer';
  status: number;
  text: string;
  header(name: string): string | null;
}

/** No response arrived: the service was unreachable or too slow. */
export interface Unanswered {
  kind: 'error';
  cause: unknown;
}

export type Outcome = Answered | Unanswered;

export interface AttemptOptions {
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** Larger than the answers of the service. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** An answer that is larger than any of the service. Another attempt would get the same. */
export class TooLargeError extends Error {
  constructor() {
    super(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
  }
}

/** Reads an answer, and ends it when it is larger than any of the service. */
async function textOf(answer: FetchAnswer, ended: AbortController): Promise<string> {
  const body = answer.body as AsyncIterable<Uint8Array> | null | undefined;
  if (typeof body?.[Symbol.asyncIterator] !== 'function') return answer.text();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > MAX_ANSWER_BYTES) {
      ended.abort(new TooLargeError());
      ended.signal.throwIfAborted();
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/**
 * Makes a request once. A network error is an outcome.
 * @throws the reason of the signal when it was aborted
 */
export async function attempt(
  fetch: Settings['fetch'],
  url: string,
  request: Omit<FetchRequest, 'signal' | 'redirect'>,
  { timeoutMs, signal }: AttemptOptions,
): Promise<Outcome> {
  signal?.throwIfAborted();
  const ended = new AbortController();
  // Not AbortSignal.timeout, because a test's fake timers cannot control its timer.
  const late = () => ended.abort(new Error(`there was no complete answer within ${timeoutMs} ms`));
  const timer = setTimeout(late, timeoutMs);
  const stop = () => ended.abort(signal?.reason);
  signal?.addEventListener('abort', stop);
  try {
    // Following a redirect would turn a POST into a GET.
    const answer = await fetch(url, { ...request, redirect: 'manual', signal: ended.signal });
    const text = await textOf(answer, ended);
    return { kind: 'answer', status: answer.status, text, header: (name) => answer.headers.get(name) };
  } catch (error) {
    signal?.throwIfAborted();
    return { kind: 'error', cause: ended.signal.aborted ? ended.signal.reason : error };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}
