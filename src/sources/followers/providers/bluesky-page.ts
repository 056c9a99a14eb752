import { type Follower, isName } from '../follower';

/** One page of an account's followers. */
export interface BlueskyPage {
  readonly followers: readonly Follower[];
  /** Null on the last page. */
  readonly cursor: string | null;
}

/** Reads the output of `app.bsky.graph.getFollowers`; null when the body is something else. */
export function readBlueskyPage(body: unknown): BlueskyPage | null {
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
