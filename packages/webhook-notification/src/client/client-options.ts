import { serviceUrl } from './service-url';

/** What the client needs of an answer to `fetch`. */
export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/** What the client gives to `fetch`. */
export interface FetchRequest {
  method: string;
  headers: Record<string, string>;
  body?: string;
  redirect: 'manual';
  signal: AbortSignal;
}

/** The global `fetch`, or anything like it. */
export type Fetch = (url: string, request: FetchRequest) => Promise<FetchAnswer>;

export interface ClientOptions {
  /** Where the service is, with the path that a proxy has put before it: `https://example.com/hooks`. */
  url: string | URL;
  /**
   * An access token, see docs/api.md#tokens; or what reads the present one. That is asked before each call, so that the token
   * can be replaced.
   */
  token: string | (() => string | Promise<string>);
  /** Makes the requests. Default: the global `fetch` of the moment. */
  fetch?: Fetch | undefined;
  /** How long each attempt may take, up to the end of the answer. Default: 30,000. */
  timeoutMs?: number | undefined;
  /** How often a request is repeated at most. Default: 3. */
  maxRetries?: number | undefined;
}

/** Of every call, as its last argument. */
export interface CallOptions {
  /** Ends the call, also while it waits to be repeated: it throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Of this call in place of the client's own. */
  timeoutMs?: number | undefined;
  /**
   * Whether the request is repeated when no answer came, or a 503 without `retry-after`, so that it may have been done.
   * Default: GET, PUT and DELETE are, and events are published again with the same idempotency key. After 429, and 503 with
   * `retry-after`, every request is repeated.
   */
  repeatable?: boolean | undefined;
}

/** The options of a client, complete and checked. */
export interface Settings {
  url: string;
  /** @throws TypeError when it is not a token */
  token: () => Promise<string>;
  fetch: Fetch;
  timeoutMs: number;
  maxRetries: number;
}

/** The longest time of a timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** @throws TypeError when an option is not what it must be */
export function settingsOf(options: ClientOptions): Settings {
  const { url, token, fetch, timeoutMs = 30_000, maxRetries = 3 } = options ?? {};
  if (!Number.isInteger(maxRetries) || maxRetries < 0) throw new TypeError('maxRetries must be a whole number from 0.');
  if (fetch !== undefined && typeof fetch !== 'function') throw new TypeError('fetch must be a function.');
  return {
    url: serviceUrl(url),
    token: readerOf(token),
    // Looked up with each request, so that tests can replace the global one later.
    fetch: fetch ?? ((address, request) => globalThis.fetch(address, request)),
    timeoutMs: checkedTimeout(timeoutMs),
    maxRetries,
  };
}

/** @throws TypeError when a timer cannot wait so long */
export function checkedTimeout(timeoutMs: number): number {
  if (typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS) return timeoutMs;
  throw new TypeError(`timeoutMs must be a number of milliseconds above 0, at most ${MAX_TIMEOUT_MS}.`);
}

function readerOf(token: ClientOptions['token']): Settings['token'] {
  if (typeof token === 'function') return async () => checkedToken(await token());
  const checked = checkedToken(token);
  return () => Promise.resolve(checked);
}

/** What fetch would refuse is refused here, because its own message shows the token. */
function checkedToken(token: unknown): string {
  if (typeof token === 'string' && /^[!-~]+$/.test(token)) return token;
  throw new TypeError('createClient needs a token: an access token of the service, without blanks and line breaks.');
}
