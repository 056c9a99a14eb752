import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsString, MaxLength } from 'class-validator';
import {
  ApiCount,
  ApiId,
  ApiTime,
  IsWholeNumber,
  Optional,
  patternOf,
} from '../../../../infrastructure/validation/api-field.decorator';
import { type Provider, PROVIDERS } from '../../account-handle';
import type { Account } from '../../account.entity';
import { NAME } from '../../follower';

export class AccountDto {
  /**
   * UUIDv7 of the account; its events contain it as `accountId`.
   * @example 0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90
   */
  @ApiId()
  id: string;

  /** Source of the followers. */
  @ApiProperty({ enum: PROVIDERS })
  provider: Provider;

  /**
   * The handle in canonical form.
   * @example ada@mastodon.social
   */
  handle: string;

  /** Seconds between two readings; has no effect for push. */
  @ApiCount()
  intervalSeconds: number;

  /** Number of followers in the current list; null before the first list. */
  @ApiCount({ nullable: true })
  followersCount: number | null;

  /** When the current list was stored; null before the first list. */
  @ApiTime()
  lastReadAt: string | null;

  /**
   * Why the last reading had no effect, as a sentence; null if there is no error.
   * @example mastodon.social returned status 502.
   */
  lastError: string | null;

  /** When the account was connected. */
  @ApiTime()
  createdAt: string;

  static from(account: Account): AccountDto {
    return {
      id: account.id,
      provider: account.provider,
      handle: account.handle,
      intervalSeconds: account.intervalSeconds,
      followersCount: account.followersCount,
      lastReadAt: account.lastReadAt?.toISOString() ?? null,
      lastError: account.lastError,
      createdAt: account.createdAt.toISOString(),
    };
  }
}

export class DeletedAccountDto {
  /** Id of the disconnected account. */
  @ApiId()
  id: string;
}

export class CreateAccountDto {
  /** Source of the followers: read from Mastodon or Bluesky, or pushed by you. */
  @ApiProperty({ enum: PROVIDERS, example: 'mastodon' })
  @IsIn(PROVIDERS, { message: `provider must be one of ${PROVIDERS.join(', ')}` })
  provider: Provider;

  /**
   * Mastodon: user and server; Bluesky: the handle; push: any name of yours, at most 256 characters.
   * @example ada@mastodon.social
   */
  @IsString()
  @MaxLength(320)
  handle: string;

  /** Seconds between two readings, 60 to 86400; has no effect for push. */
  @ApiProperty({ type: 'integer', required: false, minimum: 60, maximum: 86_400, default: 300 })
  @Optional()
  @IsWholeNumber(60, 86_400)
  intervalSeconds?: number = 300;
}

/** Documents the body that `pushed-followers.ts` parses. */
export class FollowerDto {
  /**
   * Identifier that never changes for a follower; unique in the list.
   * @example 109302
   */
  @ApiProperty({ pattern: patternOf(NAME) })
  id: string;

  /**
   * Username of the follower; it may change.
   * @example ada@example.social
   */
  @ApiProperty({ pattern: patternOf(NAME) })
  username: string;

  /**
   * Display name of the follower; empty if there is none.
   * @example Ada
   */
  @ApiProperty({ pattern: `${patternOf(NAME)}|^$` })
  displayName?: string;
}

export class FollowerListDto {
  /** All current followers of the account, at most 100,000. */
  @ApiProperty({ type: FollowerDto, isArray: true, maxItems: 100_000 })
  followers: FollowerDto[];
}

export class FollowersChangeDto {
  /** Number of followers in the list. */
  @ApiCount()
  followersCount: number;

  /** Number of published `follower.gained` events. */
  @ApiCount()
  gained: number;

  /** Number of published `follower.lost` events. */
  @ApiCount()
  lost: number;
}
