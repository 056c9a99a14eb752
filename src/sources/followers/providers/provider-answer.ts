import type { HttpFailure, HttpResponse, HttpResult } from '../../../infrastructure/destinations/exchange.client';
import { ReadingFailure } from '../follower';
import { DAY_MS } from '../../../infrastructure/config/durations';

/** A page before validation: parsed JSON of any shape. */
export interface Answer {
  readonly body: unknown;
  readonly headers: HttpResponse['headers'];
}

const NO_ANSWER: Record<HttpFailure['code'], string> = {
  timeout: 'did not respond in time',
  connection_refused: 'refused the connection',
  connection_reset: 'closed the connection before it responded',
  unreachable: 'cannot be reached',
  proxy_failed: 'cannot be reached, because the proxy of this service failed',
  dns_failed: 'cannot be reached, because the name servers of this service failed',
  service_failed: 'cannot be reached, because this service cannot open connections',
  dns_not_found: 'does not resolve: check the name of the server',
  tls_invalid: 'has no valid certificate',
  destination_blocked: 'is not an allowed destination (see ALLOWED_NETWORKS)',
  invalid_response: 'returned a response that is not valid HTTP',
};

/** Parses the response of `host` to a request for a page. Throws a ReadingFailure with a message for the account's owner. */
export function readAnswer(host: string, result: HttpResult, now: Date): Answer {
  if (result.kind === 'failure') throw new ReadingFailure(`${host} ${NO_ANSWER[result.code]}.`);
  const { status, headers } = result;
  if (status !== 200) throw refusal(host, status, rateLimitWaitMs(headers, now));
  if (result.bodyTruncated)
    throw new ReadingFailure(`${host} sent more than 4 MiB for one page, or closed the connection early.`);
  try {
    return { headers, body: JSON.parse(result.body) as unknown };
  } catch {
    throw notAList(host);
  }
}

/** Creates the failure for a response that is not a list of followers, whether it is JSON or not. */
export const notAList = (host: string) => new ReadingFailure(`${host} did not return a list of followers.`);

/** Creates the failure for pages that link back to an earlier page, and so never end. */
export const endless = (host: string) => new ReadingFailure(`${host} returned a page that was already read.`);

function refusal(host: string, status: number, waitMs: number): ReadingFailure {
  if (status === 429) return new ReadingFailure(`${host} wants fewer requests: it is left alone for a while.`, waitMs);
  if (status === 503) return new ReadingFailure(`${host} returned status 503.`, waitMs);
  if (status === 404 || status === 410)
    return new ReadingFailure(`${host} has no such account: it may have been deleted, renamed or moved.`);
  if (status === 401 || status === 403)
    return new ReadingFailure(`${host} does not show this account's followers to the public (status ${status}).`);
  if (status >= 300 && status < 400)
    return new ReadingFailure(`${host} returned a redirect, which is not followed. Use the name of the server itself.`);
  return new ReadingFailure(`${host} returned status ${status}.`);
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const MAX_WAIT_MS = DAY_MS;
/** Smaller numbers are seconds from now; larger ones are seconds since 1970. */
const EARLIEST_UNIX_SECONDS = 1_000_000_000;

/**
 * Returns how long to wait, in ms, before the next request to a provider, at most a day. Reads `retry-after` (RFC 9110,
 * seconds or a date), else `x-ratelimit-reset` (Mastodon: an ISO 8601 time), else `ratelimit-reset` (Bluesky: seconds
 * since 1970). Returns 0 if none of them is valid.
 */
export function rateLimitWaitMs(headers: Headers, now: Date): number {
  const given = [headers['retry-after'], headers['x-ratelimit-reset'], headers['ratelimit-reset']];
  const waits = given.filter((text) => typeof text === 'string').map((text) => waitMs(text, now));
  const wait = waits.find((ms) => !Number.isNaN(ms)) ?? 0;
  return Math.min(Math.max(wait, 0), MAX_WAIT_MS);
}

function waitMs(text: string, now: Date): number {
  if (!/^\d{1,12}$/.test(text)) return Date.parse(text) - now.getTime();
  const seconds = Number(text);
  return seconds < EARLIEST_UNIX_SECONDS ? seconds * 1000 : seconds * 1000 - now.getTime();
}
