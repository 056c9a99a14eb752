import { dataOf, unanswered } from './answer';
import { attempt, type Outcome, TooLargeError } from './attempt';
import { type CallOptions, checkedTimeout, type Settings } from './client-options';
import { repeatWaitMs } from './repeat-wait';
import type { Method } from './routes';
import { WebhookServiceError } from './service-error';
import { type Query, queryText, routeUrl } from './service-url';

/** A request to make. */
export interface Call extends CallOptions {
  path?: Readonly<Record<string, string>> | undefined;
  query?: Query | undefined;
  header?: Readonly<Record<string, string | undefined>> | undefined;
  body?: unknown;
}

/**
 * Makes a request, retries it where that helps, and returns its data.
 * @throws WebhookServiceError when it was rejected, or got no response
 * @throws the reason of the signal when it was aborted
 */
export async function send(settings: Settings, method: Method, route: string, call: Call): Promise<unknown> {
  const address = routeUrl(settings.url, route, call.path);
  const what = `${method} ${address}`;
  const token = await settings.token();
  try {
    const outcome = await attemptAgain(settings, token, method, address, call);
    if (outcome.kind === 'error') throw unanswered(outcome, what);
    return dataOf(outcome, what);
  } catch (error) {
    throw error instanceof WebhookServiceError ? withoutToken(error, token) : error;
  }
}

/** A shorter token occurs only in tests, and may be a word of the message. */
const MIN_TOKEN_LENGTH = 16;

/** Returns the same error, unless its message contains the token. */
function withoutToken(error: WebhookServiceError, token: string): WebhookServiceError {
  const { message, status, requestId, cause, fromService, code, details } = error;
  if (token.length < MIN_TOKEN_LENGTH || !message.includes(token)) return error;
  const withoutIt = (text: string) => text.replaceAll(token, '[token]');
  const fields = details.map((each) => ({ ...each, field: withoutIt(each.field), message: withoutIt(each.message) }));
  return new WebhookServiceError(withoutIt(message), status, requestId, { cause, fromService, code, details: fields });
}

async function attemptAgain(
  settings: Settings,
  token: string,
  method: Method,
  address: string,
  call: Call,
): Promise<Outcome> {
  const { query, body, signal, repeatable = method !== 'POST' && method !== 'PATCH' } = call;
  const url = address + queryText(query);
  const request = {
    method,
    headers: headersOf(token, call),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  const timeoutMs = timeoutOf(settings, call);
  for (let repeats = 0; ; repeats += 1) {
    const outcome = await attempt(settings.fetch, url, request, { timeoutMs, signal });
    if (!mayRepeat(outcome, repeatable) || repeats >= settings.maxRetries) return outcome;
    const retryAfter = outcome.kind === 'error' ? null : outcome.header('retry-after');
    await pause(repeatWaitMs(retryAfter, repeats, Date.now(), Math.random()), signal);
  }
}

/**
 * A request that got 429 was not processed, nor one that got a 503 with `retry-after`. Without a response, or when the
 * database was lost during the request, it may have been.
 */
function mayRepeat(outcome: Outcome, repeatable: boolean): boolean {
  if (outcome.kind === 'error') return repeatable && !(outcome.cause instanceof TooLargeError);
  return outcome.status === 429 || (outcome.status === 503 && (repeatable || outcome.header('retry-after') !== null));
}

/** A request that waits for changes or messages gets its response that much later. */
function timeoutOf(settings: Settings, { timeoutMs = settings.timeoutMs, query, body }: Call): number {
  const { waitSeconds } = { ...(body as object | undefined), ...query } as { waitSeconds?: unknown };
  return checkedTimeout(timeoutMs) + (typeof waitSeconds === 'number' ? 1000 * waitSeconds : 0);
}

function headersOf(token: string, { header = {}, body }: Call): Record<string, string> {
  const given = Object.entries(header).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...Object.fromEntries(given),
    authorization: `Bearer ${token}`,
  };
}

/**
 * Waits.
 * @throws the reason of the signal, as soon as it is aborted
 */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
