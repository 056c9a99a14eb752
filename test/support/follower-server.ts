import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Authority, makeAuthority } from './hostile-certificates';

export interface ServedFollower {
  id: string;
  name: string;
  displayName?: string;
}

/** The response that replaces a page. */
export interface Interruption {
  status: number;
  headers?: Record<string, string>;
  body?: string | object;
}

/** @param nth counts the requests since `interrupt` from 1 */
export type Interrupt = (url: URL, nth: number) => Interruption | undefined | Promise<Interruption | undefined>;

/** A server with one account, `ada`, that implements the documented APIs of Mastodon and Bluesky. */
export interface FollowerServer {
  readonly origin: string;
  /** With its port, as in a Mastodon handle. */
  readonly host: string;
  readonly requests: readonly string[];
  /** Of the newest request. */
  readonly headers: IncomingHttpHeaders;
  /** Newest first. A long list has a length and a function that returns the follower at each place. */
  serve(followers: readonly ServedFollower[] | LongList, more?: { followersCount?: number; pageSize?: number }): void;
  /** Until it is called again, or without arguments. */
  interrupt(how?: Interrupt): void;
}

export interface LongList {
  readonly length: number;
  at(place: number): ServedFollower | undefined;
}

/** The authority that issues the certificates of the test file's servers. */
export const followerAuthority: Authority = makeAuthority('authority of the follower servers');

/** Returns the settings with which a service trusts the test file's servers. */
export function useFollowerTrust(): () => { NODE_EXTRA_CA_CERTS: string } {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'follower-authority-'));
    await writeFile(join(folder, 'authority.pem'), followerAuthority.cert);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return () => ({ NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') });
}

/** One server for all tests of the file. */
export function useFollowerServer(): FollowerServer {
  const requests: string[] = [];
  let newestHeaders: IncomingHttpHeaders = {};
  let [list, count, pageSize]: [LongList, number, number] = [[], 0, Infinity];
  let interruption: { how: Interrupt; seen: number } | undefined;
  const server = createServer(followerAuthority.issue('127.0.0.1'), (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const host = () => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', `https://${host()}`);
    requests.push(`${request.method} ${url.pathname}${url.search}`);
    newestHeaders = request.headers;
    if (interruption) interruption.seen += 1;
    const { status, headers, body } =
      (await interruption?.how(url, interruption.seen)) ??
      (url.pathname.startsWith('/xrpc/') ? bluesky(url) : mastodon(url));
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  const slice = (from: number, limit: number) =>
    Array.from({ length: Math.max(0, Math.min(limit, list.length - from)) }, (_, i) => list.at(from + i)!);

  /** https://docs.joinmastodon.org/methods/accounts/ */
  function mastodon(url: URL): Interruption {
    const headers = { 'x-ratelimit-limit': '300', 'x-ratelimit-remaining': '299', 'x-ratelimit-reset': isoIn(300) };
    if (url.pathname === '/api/v1/accounts/lookup' && url.searchParams.get('acct') === 'ada') {
      return { status: 200, headers, body: { id: '7', username: 'ada', acct: 'ada', followers_count: count } };
    }
    if (url.pathname !== '/api/v1/accounts/7/followers') {
      return { status: 404, headers, body: { error: 'Record not found' } };
    }
    const limit = Math.min(Number(url.searchParams.get('limit') ?? 40), 80, pageSize);
    const from = Number(url.searchParams.get('max_id') ?? 0);
    const body = slice(from, limit).map(({ id, name, displayName = '' }) => ({
      id,
      username: name.split('@')[0],
      acct: name,
      display_name: displayName,
    }));
    const page = (parameter: string) => `<${url.origin}${url.pathname}?limit=${limit}&${parameter}>`;
    const links = [
      ...(body.length === limit ? [`${page(`max_id=${from + limit}`)}; rel="next"`] : []),
      ...(body.length > 0 ? [`${page(`since_id=${from}`)}; rel="prev"`] : []),
    ];
    return { status: 200, headers: links.length > 0 ? { ...headers, link: links.join(', ') } : headers, body };
  }

  /** https://docs.bsky.app/docs/api/app-bsky-graph-get-followers */
  function bluesky(url: URL): Interruption {
    if (url.pathname !== '/xrpc/app.bsky.graph.getFollowers' || url.searchParams.get('actor') !== 'ada.example.org') {
      return { status: 400, body: { error: 'InvalidRequest', message: 'Actor not found' } };
    }
    const limit = Math.min(Number(url.searchParams.get('limit') ?? 50), 100, pageSize);
    const from = Number(url.searchParams.get('cursor') ?? 0);
    const followers = slice(from, limit).map(({ id, name, displayName }) => ({ did: id, handle: name, displayName }));
    const cursor = from + limit < list.length ? { cursor: String(from + limit) } : {};
    return { status: 200, body: { subject: { did: 'did:plc:ada', handle: 'ada.example.org' }, ...cursor, followers } };
  }

  return {
    get origin() {
      return `https://${host()}`;
    },
    get host() {
      return host();
    },
    requests,
    get headers() {
      return newestHeaders;
    },
    serve: (followers, more = {}) => {
      [list, count, pageSize] = [followers, more.followersCount ?? followers.length, more.pageSize ?? Infinity];
    },
    interrupt: (how) => {
      interruption = how && { how, seen: 0 };
    },
  };
}

/** A time some seconds from now, as Mastodon writes it. */
export const isoIn = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();
