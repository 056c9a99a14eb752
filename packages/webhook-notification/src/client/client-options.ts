import { serviceUrl } from './service-url';

/** The parts of a `fetch` response that the client uses. */
export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
  /** Read instead of `text`, and only up to 64 MiB, where it can be iterated. */
  readonly body?: unknown;
}

/** The request that the client passes to `fetch`. */
export interface FetchRequest {
  method: string;
  headers: Record<string, string>;
  body?: string;
  redirect: 'manual';
  signal: AbortSignal;
}

/** The global `fetch`, or a compatible function. */
export type Fetch = (url: string, request: FetchRequest) => Promise<FetchAnswer>;

export interface ClientOptions {
  /** The URL of the service, with the path prefix of a proxy if there is one: `https://example.com/hooks`. */
  url: string | URL;
  /**
   * An access token, see docs/api.md#tokens; or a function that returns the current one. The function is called before
   * each call, so that the token can be replaced.
   */
  token: string | (() => string | Promise<string>);
  /** Makes the requests. Default: the global `fetch` at the time of the request. */
  fetch?: Fetch | undefined;
  /** Timeout of each attempt in ms, up to the end of the response. Default: 30,000. */
  timeoutMs?: number | undefined;
  /** Maximum number of retries of a request. Default: 3. */
  maxRetries?: number | undefined;
}

/** Options of a call, as its last argument. */
export interface CallOptions {
  /** Aborts the call, also while it waits for a retry: the call throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Overrides the client's timeout for this call. */
  timeoutMs?: number | undefined;
  /**
   * Whether the request is retried after no response, or after a 503 without `retry-after`, when it may have been
   * processed. Default: GET, PUT and DELETE are, and events are published again with the same idempotency key. After
   * 429, and 503 with `retry-after`, every request is retried.
   */
  repeatable?: boolean | undefined;
}

/** The options of a client, complete and validated. */
export interface Settings {
  url: string;
  /** @throws TypeError when it is not a token */
  token: () => Promise<string>;
  fetch: Fetch;
  timeoutMs: number;
  maxRetries: number;
}

/** The longest delay of a timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** @throws TypeError when an option is invalid */
export function settingsOf(options: ClientOptions): Settings {
  const { url, token, fetch, timeoutMs = 30_000, maxRetries = 3 } = options ?? {};
  if (!Number.isInteger(maxRetries) || maxRetries < 0) throw new TypeError('maxRetries must be a whole number from 0.');
  if (fetch !== undefined && typeof fetch !== 'function') throw new TypeError('fetch must be a function.');
  return {
    url: serviceUrl(url),
    token: readerOf(token),
    // Looked up for each request, so that tests can replace the global one later.
    fetch: fetch ?? ((address, request) => globalThis.fetch(address, request)),
    timeoutMs: checkedTimeout(timeoutMs),
    maxRetries,
  };
}

/** @throws TypeError when it exceeds the longest delay of a timer */
export function checkedTimeout(timeoutMs: number): number {
  if (typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS) return timeoutMs;
  throw new TypeError(`timeoutMs must be a number of milliseconds above 0, at most ${MAX_TIMEOUT_MS}.`);
}

function readerOf(token: ClientOptions['token']): Settings['token'] {
  if (typeof token === 'function') return async () => checkedToken(await token());
  const checked = checkedToken(token);
  return () => Promise.resolve(checked);
}

/** Rejects here what fetch would reject, because the message of fetch shows the token. */
function checkedToken(token: unknown): string {
  if (typeof token === 'string' && /^[!-~]+$/.test(token)) return token;
  throw new TypeError('createClient needs a token: an access token of the service, without blanks and line breaks.');
}
