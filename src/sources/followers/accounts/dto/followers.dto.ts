import { ApiProperty } from '@nestjs/swagger';

/** Documents what `pushed-followers.ts` reads. */
export class FollowerDto {
  /**
   * What stays the same about a follower; each id at most once in a list.
   * @example 109302
   */
  id: string;

  /**
   * The name to call it by; it may change.
   * @example ada@example.social
   */
  username: string;

  /**
   * The name to show.
   * @example Ada
   */
  displayName?: string;
}

export class PutFollowersDto {
  /** All followers that the account has now, at most 100,000. */
  @ApiProperty({ type: FollowerDto, isArray: true, maxItems: 100_000 })
  followers: FollowerDto[];
}

export class FollowersChangeDto {
  /** Followers in the list. */
  @ApiProperty({ type: 'integer' })
  followersCount: number;

  /** How many `follower.gained` were published. */
  @ApiProperty({ type: 'integer' })
  gained: number;

  /** How many `follower.lost` were published. */
  @ApiProperty({ type: 'integer' })
  lost: number;
}
