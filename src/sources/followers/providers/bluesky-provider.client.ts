import { Inject, Injectable } from '@nestjs/common';
import { ClockService } from '../../../plumbing/database/clock.service';
import { HttpClient } from '../../../plumbing/destinations/http.client';
import { readBlueskyPage } from './bluesky-page';
import type { Follower } from '../follower';
import type { FollowerProvider } from '../follower';
import { endless, notAList, readAnswer } from './provider-answer';
import { ReadingFailure } from '../reading-failure';

/** Injection token of the origin of Bluesky's public API. */
export const BLUESKY_ORIGIN = 'BLUESKY_ORIGIN';

/** Followers per page: the maximum of `app.bsky.graph.getFollowers`. */
const PAGE = 100;

/** Reads followers through Bluesky's public API, which needs no login. */
@Injectable()
export class BlueskyProvider implements FollowerProvider {
  constructor(
    @Inject(BLUESKY_ORIGIN) private readonly origin: string,
    private readonly http: HttpClient,
    private readonly clock: ClockService,
  ) {}

  async *pages(handle: string): AsyncGenerator<readonly Follower[]> {
    const url = new URL('/xrpc/app.bsky.graph.getFollowers', this.origin);
    url.searchParams.set('actor', handle);
    url.searchParams.set('limit', String(PAGE));
    const seen = new Set<string>();
    for (let cursor: string | null = ''; cursor !== null;) {
      if (cursor !== '') url.searchParams.set('cursor', cursor);
      seen.add(cursor);
      const page = await this.page(url);
      yield page.followers;
      cursor = page.cursor;
      if (cursor !== null && seen.has(cursor)) throw endless(url.host);
    }
  }

  private async page(url: URL) {
    const result = await this.http.get({ url: url.href, headers: { accept: 'application/json' } });
    // InvalidRequest, AccountDeactivated or AccountTakedown: the account is unknown, deactivated or taken down.
    if (result.kind === 'response' && result.status === 400) {
      throw new ReadingFailure(`${url.host} knows no such account: it may have been deleted, renamed or deactivated.`);
    }
    const page = readBlueskyPage(readAnswer(url.host, result, this.clock.now()).body);
    if (page === null) throw notAList(url.host);
    return page;
  }
}
