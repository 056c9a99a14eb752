/** A follower, as a provider knows it: the id stays the same, the names may change. */
export interface Follower {
  readonly id: string;
  readonly username: string;
  readonly displayName?: string;
}

/** Text that PostgreSQL can store and JSON can carry: no NUL, no lone surrogate. Real ids and names are far shorter. */
export const NAME = /^[^\0\p{Cs}]{1,512}$/u;

/** True when this can be the id or the name of a follower. */
export function isName(text: unknown): text is string {
  return typeof text === 'string' && NAME.test(text);
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
