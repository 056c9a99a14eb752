import { ApiProperty } from '@nestjs/swagger';
import type { AccessToken } from '../access-token.entity';
import { ALL_SCOPES, type Scope } from '../../scope';
import { ApiId, ApiTime } from '../../../plumbing/validation/api-field.decorator';

export class TokenDto {
  /**
   * UUIDv7 of the token, to revoke it by.
   * @example 0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90
   */
  @ApiId()
  id: string;

  /**
   * What the token is for.
   * @example Backend, production
   */
  name: string;

  /**
   * The user that it speaks for.
   * @example alice
   */
  userId: string;

  /** What it may do. */
  @ApiProperty({ enum: ALL_SCOPES, isArray: true })
  scopes: Scope[];

  /** Id of the token that it was made with, and ends with; null: it was made without one that has an id. */
  @ApiId()
  madeBy: string | null;

  /** Whether it is a session at the console. */
  session: boolean;

  /** When it ends; null: never. */
  @ApiTime()
  expiresAt: string | null;

  /** When it was created. */
  @ApiTime()
  createdAt: string;

  /** When it was last used, to the minute; null: never. */
  @ApiTime()
  lastUsedAt: string | null;

  static from(token: AccessToken): TokenDto {
    return {
      id: token.id,
      name: token.name,
      userId: token.userId,
      scopes: token.scopes,
      madeBy: token.parentId,
      session: token.isSession,
      expiresAt: token.expiresAt?.toISOString() ?? null,
      createdAt: token.createdAt.toISOString(),
      lastUsedAt: token.lastUsedAt?.toISOString() ?? null,
    };
  }
}

export class CreatedTokenDto extends TokenDto {
  /**
   * The access token: keep it, it is not shown again.
   * @example wns_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG
   */
  token: string;

  static with(row: AccessToken, token: string): CreatedTokenDto {
    return { ...TokenDto.from(row), token };
  }
}

export class DeletedTokenDto {
  /** The id of what was revoked. */
  @ApiId()
  id: string;
}
