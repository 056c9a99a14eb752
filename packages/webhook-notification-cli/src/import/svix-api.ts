import { setTimeout as pause } from 'node:timers/promises';
import {
  type Answered,
  attempt,
  type Outcome,
  type Query,
  queryText,
  repeatWaitMs,
  routeUrl,
  TooLargeError,
  unanswered,
  type Unanswered,
} from 'webhook-notification/cli';
import { applicationIdOf, endpointsPageOf, headersOf, isTransformedBy, keyOf } from './svix-answers';
import type { SvixEndpoint } from './svix-endpoint';

const ENDPOINTS = '/api/v1/app/{app}/endpoint';
const ENDPOINT = `${ENDPOINTS}/{endpoint}`;

const PAGE = 250;
/** More than any user may have here; a list that goes on is no list of endpoints. */
const MAX_ENDPOINTS = 100_000;
const MAX_RETRIES = { failed: 3, rateLimited: 30 };

interface SvixOptions {
  /** Origin, and path prefix if there is one, without a slash at the end. */
  url: string;
  token: string;
  /** Of an attempt, up to the end of the answer. */
  timeoutMs: number;
}

/** Why Svix could not be read. Its message has nothing of what Svix answered. */
export class SvixError extends Error {}

/** Reads an application of Svix. Follows no redirect, and makes requests to one origin only. */
export class SvixApi {
  constructor(private readonly options: SvixOptions) {}

  /**
   * Returns the id of an application, given that or its uid.
   * @throws SvixError
   */
  async applicationId(app: string): Promise<string> {
    const answer = await this.get('/api/v1/app/{app}', { app });
    if (answer === null) throw new SvixError(`Svix has no application ${app} for this token.`);
    return this.checked(applicationIdOf(answer), 'an application');
  }

  /**
   * Yields all endpoints of an application, page by page, each once.
   * @throws SvixError, also for a list without an end
   */
  async *endpoints(app: string): AsyncGenerator<SvixEndpoint[]> {
    const seen = new Set<string>();
    let iterator: string | undefined;
    do {
      const answer = await this.get(ENDPOINTS, { app }, { limit: PAGE, iterator });
      const page = this.checked(endpointsPageOf(answer), 'a page of endpoints');
      const added = page.endpoints.filter(({ id }) => !seen.has(id));
      for (const { id } of added) seen.add(id);
      if (page.next !== null && (added.length === 0 || seen.size > MAX_ENDPOINTS))
        throw new SvixError("Svix's list of endpoints does not end.");
      yield added;
      iterator = page.next ?? undefined;
    } while (iterator !== undefined);
  }

  /** Returns the newest secret of an endpoint; null when there is no such endpoint any more. */
  async secret(app: string, endpoint: string): Promise<string | null> {
    const answer = await this.get(`${ENDPOINT}/secret`, { app, endpoint });
    return answer === null ? null : this.checked(keyOf(answer), 'a secret');
  }

  /** Returns the headers of an endpoint, and the names of those whose values Svix does not show. */
  async headers(app: string, endpoint: string): Promise<{ headers: Record<string, string>; sensitive: string[] }> {
    const answer = await this.get(`${ENDPOINT}/headers`, { app, endpoint });
    return answer === null ? { headers: {}, sensitive: [] } : this.checked(headersOf(answer), 'headers');
  }

  /** Whether Svix transforms what it sends to an endpoint. The open source server has no such route. */
  async isTransformed(app: string, endpoint: string): Promise<boolean> {
    const answer = await this.get(`${ENDPOINT}/transformation`, { app, endpoint }, {}, [404, 405, 501]);
    return answer !== null && isTransformedBy(answer);
  }

  private checked<Value>(value: Value | null, what: string): Value {
    if (value === null) throw new SvixError(`Svix answered something else than ${what}: check --svix.`);
    return value;
  }

  /** Returns the JSON of an answer; null for one of the `absent` statuses. */
  private async get(
    route: string,
    path: Record<string, string>,
    query: Query = {},
    absent: readonly number[] = [404],
  ): Promise<unknown> {
    const address = routeUrl(this.options.url, route, path);
    const { status, text } = await this.attemptAgain(address + queryText(query), `GET ${address}`);
    if (absent.includes(status)) return null;
    if (status < 200 || status >= 300)
      throw new SvixError(`Svix answered GET ${address} with ${status}${explanationOf(status)}.`);
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw new SvixError(`Svix answered GET ${address} with something else than JSON.`);
    }
  }

  private async attemptAgain(url: string, what: string): Promise<Answered> {
    const { token, timeoutMs } = this.options;
    const request = { method: 'GET', headers: { accept: 'application/json', authorization: `Bearer ${token}` } };
    const left = { ...MAX_RETRIES };
    for (let repeats = 0; ; repeats += 1) {
      const outcome = await attempt(globalThis.fetch, url, request, { timeoutMs, signal: undefined });
      const cause = causeOfRetry(outcome);
      const isLast = cause === null || left[cause] === 0;
      if (isLast && outcome.kind === 'answer') return outcome;
      if (isLast) throw new SvixError(unanswered(outcome as Unanswered, what).message);
      left[cause] -= 1;
      const retryAfter = outcome.kind === 'answer' ? outcome.header('retry-after') : null;
      await pause(repeatWaitMs(retryAfter, repeats, Date.now(), Math.random()));
    }
  }
}

function causeOfRetry(outcome: Outcome): keyof typeof MAX_RETRIES | null {
  if (outcome.kind === 'error') return outcome.cause instanceof TooLargeError ? null : 'failed';
  if (outcome.status === 429) return 'rateLimited';
  return outcome.status >= 500 && outcome.status !== 501 ? 'failed' : null;
}

function explanationOf(status: number): string {
  if (status === 401 || status === 403) return ': it does not accept SVIX_TOKEN';
  if (status >= 300 && status < 400) return ': redirects are not followed, so give --svix the final address';
  return '';
}
