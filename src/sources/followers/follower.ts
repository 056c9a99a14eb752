/** A follower as reported by a provider: the id never changes, the names may change. */
export interface Follower {
  readonly id: string;
  readonly username: string;
  readonly displayName?: string;
}

/** Text that PostgreSQL can store and JSON can carry: no NUL, no lone surrogate. Real ids and names are far shorter. */
export const NAME = /^[^\0\p{Cs}]{1,512}$/u;

export function isName(text: unknown): text is string {
  return typeof text === 'string' && NAME.test(text);
}

export interface FollowerProvider {
  /**
   * Returns all followers of an account, page by page.
   * @param handle in canonical form
   */
  pages(handle: string): AsyncGenerator<readonly Follower[]>;
}

/** A failed reading. Its message is one sentence for the account's owner and never contains an address. */
export class ReadingFailure extends Error {
  /** @param waitMs how long to wait before the next request to the provider */
  constructor(
    message: string,
    readonly waitMs = 0,
  ) {
    super(message);
  }
}

/** The account was deleted, or another process reads it. This process has nothing left to do. */
export class ReadingAbandoned extends Error {}
