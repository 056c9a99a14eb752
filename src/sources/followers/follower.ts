/** A follower, as a provider knows it: the id stays the same, the names may change. */
export interface Follower {
  readonly id: string;
  readonly username: string;
  readonly displayName?: string;
}

/** The most characters that an id or a name may have. Those of Mastodon and Bluesky are far shorter. */
export const MAX_NAME_LENGTH = 512;

/** Text that PostgreSQL can store and JSON can carry: no NUL, no lone surrogate. */
const STORABLE = /^[^\0\p{Cs}]*$/u;

/** True when this can be the id or the name of a follower. */
export function isName(text: unknown): text is string {
  return typeof text === 'string' && text !== '' && text.length <= MAX_NAME_LENGTH && STORABLE.test(text);
}

/** A service that followers are read from. */
export interface FollowerProvider {
  /**
   * All followers of an account, page by page.
   * @param handle in canonical form
   * @throws ReadingFailure when a page cannot be read
   */
  pages(handle: string): AsyncGenerator<readonly Follower[]>;
}
