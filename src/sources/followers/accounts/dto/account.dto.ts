import { ApiProperty } from '@nestjs/swagger';
import { type Provider, PROVIDERS } from '../../account-handle';
import type { Account } from '../../account.entity';
import { ApiCount, ApiId, ApiTime } from '../../../../plumbing/validation/api-field.decorator';

export class AccountDto {
  /**
   * UUIDv7 of the account; `accountId` of its events.
   * @example 0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90
   */
  @ApiId()
  id: string;

  /** Where its followers come from. */
  @ApiProperty({ enum: PROVIDERS })
  provider: Provider;

  /**
   * The handle in canonical form.
   * @example ada@mastodon.social
   */
  handle: string;

  /** Seconds from one reading to the next; means nothing for push. */
  @ApiCount()
  intervalSeconds: number;

  /** Followers in the list that counts; null before there is one. */
  @ApiCount({ nullable: true })
  followersCount: number | null;

  /** When that list was taken in; null before there is one. */
  @ApiTime()
  lastReadAt: string | null;

  /**
   * Why the last reading did not count, as a sentence; null when all is well.
   * @example mastodon.social answered with status 502.
   */
  lastError: string | null;

  /** When it was connected. */
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
  /** The id of what was deleted. */
  @ApiId()
  id: string;
}
