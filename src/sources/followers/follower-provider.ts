import type { Follower } from './follower';

/** A place that followers are read from. */
export interface FollowerProvider {
  /**
   * All followers of an account, page after page, to the last one.
   * @param handle in canonical form
   * @throws ReadingFailure when any page does not come
   */
  pages(handle: string): AsyncGenerator<readonly Follower[]>;
}
