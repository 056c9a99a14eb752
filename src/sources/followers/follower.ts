/** A follower as a provider knows it: `id` stays, the names may change. */
export interface Follower {
  readonly id: string;
  readonly username: string;
  readonly displayName?: string;
}

/** Characters that an id or a name may have; Mastodon's and Bluesky's are far shorter. */
export const MAX_NAME_LENGTH = 512;

/** Text that PostgreSQL can store and JSON can carry: no NUL, no lone surrogate. */
const STORABLE = /^[^\0\p{Cs}]*$/u;

/** May this be the id or the name of a follower? */
export function isName(text: unknown): text is string {
  return typeof text === 'string' && text !== '' && text.length <= MAX_NAME_LENGTH && STORABLE.test(text);
}

/** A place that followers are read from. */
export interface FollowerProvider {
  /**
   * All followers of an account, page after page, to the last one.
   * @param handle in canonical form
   * @throws ReadingFailure when any page does not come
   */
  pages(handle: string): AsyncGenerator<readonly Follower[]>;
}
