import { Inject, Injectable } from '@nestjs/common';
import { ClockService } from '../../../infrastructure/database/clock.service';
import { HttpClient } from '../../../infrastructure/destinations/http.client';
import { type Follower, type FollowerProvider, isName, ReadingFailure } from '../follower';
import { endless, notAList, readAnswer } from './provider-answer';

interface BlueskyPage {
  readonly followers: readonly Follower[];
  /** Null on the last page. */
  readonly cursor: string | null;
}

export const BLUESKY_ORIGIN = 'BLUESKY_ORIGIN';

/** Followers per page: the maximum of `app.bsky.graph.getFollowers`. */
const PAGE = 100;

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
    if (result.kind === 'response' && result.status === 400)
      throw new ReadingFailure(`${url.host} has no such account: it may have been deleted, renamed or deactivated.`);
    const page = readBlueskyPage(readAnswer(url.host, result, this.clock.now()).body);
    if (page === null) throw notAList(url.host);
    return page;
  }
}

/** Parses the output of `app.bsky.graph.getFollowers`; null if the body is something else. */
function readBlueskyPage(body: unknown): BlueskyPage | null {
  const { followers, cursor } = (body ?? {}) as { followers?: unknown; cursor?: unknown };
  if (!Array.isArray(followers) || !['string', 'undefined'].includes(typeof cursor)) return null;
  const read = (followers as unknown[]).map(readFollower);
  if (!read.every((follower) => follower !== null)) return null;
  return { followers: read, cursor: typeof cursor === 'string' && cursor !== '' ? cursor : null };
}

function readFollower(profile: unknown): Follower | null {
  const { did, handle, displayName } = (profile ?? {}) as { did?: unknown; handle?: unknown; displayName?: unknown };
  if (!isName(did) || !isName(handle)) return null;
  return isName(displayName) ? { id: did, username: handle, displayName } : { id: did, username: handle };
}
