import { Injectable } from '@nestjs/common';
import { ClockService } from '../../../infrastructure/database/clock.service';
import { HttpClient } from '../../../infrastructure/destinations/http.client';
import { partsOfMastodonHandle } from '../account-handle';
import { type Follower, type FollowerProvider, isName, ReadingFailure } from '../follower';
import { type Answer, endless, notAList, readAnswer } from './provider-answer';
import { urlOf } from '../../../infrastructure/destinations/url';

interface MastodonAccount {
  readonly id: string;
  readonly followersCount: number;
}

/** Followers per page: Mastodon's maximum. */
const PAGE = 80;

/** Reads followers through the public API of a Mastodon server, or of a server with the same API. */
@Injectable()
export class MastodonProvider implements FollowerProvider {
  constructor(
    private readonly http: HttpClient,
    private readonly clock: ClockService,
  ) {}

  async *pages(handle: string): AsyncGenerator<readonly Follower[]> {
    const { user, origin } = partsOfMastodonHandle(handle);
    const account = await this.find(user, new URL(origin));
    const seen = new Set<string>();
    let url: URL | null = new URL(`/api/v1/accounts/${encodeURIComponent(account.id)}/followers?limit=${PAGE}`, origin);
    while (url !== null) {
      if (seen.has(url.href)) throw endless(url.host);
      const { body, headers } = await this.get(url);
      const followers = readMastodonFollowers(body, url.host);
      if (followers === null) throw notAList(url.host);
      // An account with hidden followers returns an empty list, but still the correct count.
      if (seen.size === 0 && followers.length === 0 && account.followersCount > 0) throw hidden(url.host);
      yield followers;
      seen.add(url.href);
      url = sameOrigin(nextLink(headers.link, url), url);
    }
  }

  private async find(user: string, server: URL): Promise<MastodonAccount> {
    const { body } = await this.get(new URL(`/api/v1/accounts/lookup?acct=${encodeURIComponent(user)}`, server));
    const account = readMastodonAccount(body);
    if (account === null) throw new ReadingFailure(`${server.host} did not return an account.`);
    return account;
  }

  private async get(url: URL): Promise<Answer> {
    const result = await this.http.get({ url: url.href, headers: { accept: 'application/json' } });
    return readAnswer(url.host, result, this.clock.now());
  }
}

/** Rejects a next page on another server: a server must not make this service call other servers. */
function sameOrigin(next: URL | null, page: URL): URL | null {
  if (next === null || next.origin === page.origin) return next;
  throw new ReadingFailure(`${page.host} linked to another server for the next page, which is not followed.`);
}

const hidden = (host: string) => new ReadingFailure(`${host} does not show this account's followers: they are hidden.`);

/** Parses an `Account` entity; null if the body is something else. */
function readMastodonAccount(body: unknown): MastodonAccount | null {
  const { id, followers_count: count } = (body ?? {}) as { id?: unknown; followers_count?: unknown };
  return isName(id) ? { id, followersCount: typeof count === 'number' ? count : 0 } : null;
}

/**
 * Parses a list of `Account` entities; null if the body is something else. An `acct` without a server is an account on `host`.
 */
function readMastodonFollowers(body: unknown, host: string): Follower[] | null {
  if (!Array.isArray(body)) return null;
  const followers = (body as unknown[]).map((account) => readFollower(account, host));
  return followers.every((follower) => follower !== null) ? followers : null;
}

function readFollower(account: unknown, host: string): Follower | null {
  const { id, acct, display_name: name } = (account ?? {}) as { id?: unknown; acct?: unknown; display_name?: unknown };
  if (!isName(id) || !isName(acct)) return null;
  const username = acct.includes('@') ? acct : `${acct}@${host}`;
  return isName(name) ? { id, username, displayName: name } : { id, username };
}

/** A target, a parameter, or any other character of a `Link` header (RFC 8288, section 3). */
const TOKEN = /<([^<>]*)>|;\s*([^\s=;,"]+)(?:\s*=\s*(?:"([^"]*)"|([^\s;,"]*)))?|[^]/g;

/**
 * Returns the target of the first link with `rel="next"`, resolved against the page's own URL and without a fragment,
 * which is never sent to servers; null if the page has none.
 */
export function nextLink(header: string | string[] | undefined, page: URL): URL | null {
  const text = Array.isArray(header) ? header.join(', ') : (header ?? '');
  let link: string | undefined;
  for (const [token, target, parameter, quoted, plain] of text.matchAll(TOKEN)) {
    if (target !== undefined) link = target;
    else if (token === ',') link = undefined;
    const isNext = parameter?.toLowerCase() === 'rel' && relations(quoted ?? plain).includes('next');
    const url = isNext && link !== undefined ? urlOf(link, page.href) : undefined;
    if (!url) continue;
    url.hash = '';
    return url;
  }
  return null;
}

function relations(value = ''): string[] {
  return value.toLowerCase().split(/\s+/);
}
