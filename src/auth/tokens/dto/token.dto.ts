import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, Matches } from 'class-validator';
import { USER_ID } from 'webhook-notification/catalogue';
import { ALL_SCOPES, type Principal, type Scope } from '../../access-token';
import { MESSAGES } from '../../../infrastructure/errors/api-error';
import { PageQueryDto } from '../../../infrastructure/pagination/dto/page-query.dto';
import {
  ApiId,
  ApiTime,
  IsTimeOrNull,
  Optional,
  patternOf,
} from '../../../infrastructure/validation/api-field.decorator';
import type { AccessToken } from '../access-token.entity';

/** A longer list stays as it is, so that it is rejected. */
const withoutRepeats = ({ value }: { value: unknown }): unknown =>
  Array.isArray(value) && value.length <= ALL_SCOPES.length ? [...new Set(value)] : value;

/** At least one scope. A scope that is repeated counts once. */
export const IsScopes = ({ required }: { required: boolean }): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      ...{ enum: ALL_SCOPES, isArray: true, required, example: ['webhooks:read'] },
      ...{ minItems: 1, maxItems: ALL_SCOPES.length },
    }),
    Transform(withoutRepeats),
    IsArray(),
    ArrayMinSize(1),
    ArrayMaxSize(ALL_SCOPES.length),
    IsIn(ALL_SCOPES, { each: true, message: `scopes must be among ${ALL_SCOPES.join(', ')}` }),
  );

export class TokenDto {
  /**
   * UUIDv7 of the token. Use it to revoke the token.
   * @example 0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90
   */
  @ApiId()
  id: string;

  /**
   * Purpose of the token.
   * @example "Backend, production"
   */
  name: string;

  /**
   * The user that the token belongs to.
   * @example alice
   */
  userId: string;

  /** Scopes of the token. */
  @ApiProperty({ enum: ALL_SCOPES, isArray: true })
  scopes: Scope[];

  /**
   * Id of the token that this one is revoked with: the one that created it, or that created its session. Null if no token
   * with an id did.
   */
  @ApiId()
  madeBy: string | null;

  /** Whether the token is a console session. */
  session: boolean;

  /** When the token expires; null if never. */
  @ApiTime()
  expiresAt: string | null;

  /** When the token was created. */
  @ApiTime()
  createdAt: string;

  /** When the token was last used, accurate to a minute; null if never. */
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
   * The access token. Store it: it is not shown again.
   * @example wns_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG
   */
  token: string;

  static with(row: AccessToken, token: string): CreatedTokenDto {
    return { ...TokenDto.from(row), token };
  }
}

export class DeletedTokenDto {
  /** Id of the revoked token. */
  @ApiId()
  id: string;
}

const PRINTABLE = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

export class CreateTokenDto {
  /**
   * Purpose of the token: 1 to 128 printable characters.
   * @example "Backend, production"
   */
  @ApiProperty({ minLength: 1, maxLength: 128, pattern: patternOf(PRINTABLE) })
  @Matches(PRINTABLE, { message: 'name must be 1 to 128 printable characters' })
  name: string;

  /** Scopes of the token: any scopes of the token that creates it. */
  @IsScopes({ required: true })
  scopes: Scope[];

  /** When the token expires. Null or absent: never, which only a token without an expiry can grant. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, required: false, example: '2099-01-15T09:30:00Z' })
  @IsTimeOrNull()
  expiresAt?: Date | null;

  /** User of the token. Default: you. Another user requires the scope users:manage. */
  @ApiProperty({ required: false, pattern: USER_ID.source, example: 'alice' })
  @Optional()
  @Matches(USER_ID, { message: MESSAGES.badUserId })
  userId?: string;
}

export class ListTokensDto extends PageQueryDto {
  /** User of the tokens. Default: you. Another user requires the scope users:manage. */
  @ApiProperty({ required: false, pattern: USER_ID.source })
  @Optional()
  @Matches(USER_ID, { message: MESSAGES.badUserId })
  userId?: string;
}

export class MeDto {
  /** Id of the token, as in the list of tokens; null for BOOTSTRAP_TOKEN and for tokens of an identity provider. */
  @ApiId()
  tokenId: string | null;

  /** The user that the token belongs to. */
  userId: string;

  /** Scopes of the token. */
  @ApiProperty({ enum: ALL_SCOPES, isArray: true })
  scopes: Scope[];

  /** When the token expires; null if never. */
  @ApiTime()
  expiresAt: string | null;

  static from(principal: Principal): MeDto {
    return {
      tokenId: principal.tokenId,
      userId: principal.userId,
      scopes: [...principal.scopes],
      expiresAt: principal.expiresAt?.toISOString() ?? null,
    };
  }
}
