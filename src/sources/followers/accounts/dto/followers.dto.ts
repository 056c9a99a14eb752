import { ApiProperty } from '@nestjs/swagger';
import { NAME } from '../../follower';
import { ApiCount, patternOf } from '../../../../plumbing/validation/api-field.decorator';

/** Documents what `pushed-followers.ts` reads. */
export class FollowerDto {
  /**
   * What stays the same about a follower; each id at most once in a list.
   * @example 109302
   */
  @ApiProperty({ pattern: patternOf(NAME) })
  id: string;

  /**
   * The name to call it by; it may change.
   * @example ada@example.social
   */
  @ApiProperty({ pattern: patternOf(NAME) })
  username: string;

  /**
   * The name to show; empty: none.
   * @example Ada
   */
  @ApiProperty({ pattern: `${patternOf(NAME)}|^$` })
  displayName?: string;
}

export class PutFollowersDto {
  /** All followers that the account has now, at most 100,000. */
  @ApiProperty({ type: FollowerDto, isArray: true, maxItems: 100_000 })
  followers: FollowerDto[];
}

export class FollowersChangeDto {
  /** Followers in the list. */
  @ApiCount()
  followersCount: number;

  /** How many `follower.gained` were published. */
  @ApiCount()
  gained: number;

  /** How many `follower.lost` were published. */
  @ApiCount()
  lost: number;
}
