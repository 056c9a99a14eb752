import { ApiProperty } from '@nestjs/swagger';
import { Matches, MaxLength } from 'class-validator';
import { USER_ID } from 'webhook-notification/catalogue';
import { ALL_SCOPES, type Scope } from '../../../auth/access-token';
import { IsScopes } from '../../../auth/tokens/dto/token.dto';
import { MESSAGES } from '../../../infrastructure/errors/api-error';
import { ApiTime, IsWholeNumber, Optional } from '../../../infrastructure/validation/api-field.decorator';
import { CONSOLE_PATH } from '../console-link';
import type { ConsoleLink } from '../console-links.service';
import type { ConsoleSession } from '../console-sessions.service';

const CODE = /^[A-Za-z0-9_-]{43}$/;

export class CreateConsoleSessionDto {
  /**
   * The code from the fragment of a link. Omit it to create a session for your access token.
   * @example 0123456789abcdefghijklmnopqrstuvwxyzABCDEFG
   */
  @ApiProperty({ pattern: CODE.source, required: false })
  @Optional()
  @Matches(CODE, { message: 'code must be the 43 characters behind #code= of a link' })
  code?: string;
}

export class ConsoleSessionDto {
  /**
   * The access token of the session.
   * @example wns_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG
   */
  token: string;

  /** The user who is signed in. */
  userId: string;

  /** Scopes of the session. */
  @ApiProperty({ enum: ALL_SCOPES, isArray: true })
  scopes: Scope[];

  /** When the session expires. */
  @ApiTime()
  expiresAt: string;

  static from({ token, row }: ConsoleSession): ConsoleSessionDto {
    return { token, userId: row.userId, scopes: row.scopes, expiresAt: row.expiresAt?.toISOString() ?? '' };
  }
}

export class CreateConsoleLinkDto {
  /** The user to sign in. Default: you. Another user requires the scope users:manage. */
  @ApiProperty({ required: false, pattern: USER_ID.source, example: 'alice' })
  @Optional()
  @Matches(USER_ID, { message: MESSAGES.badUserId })
  userId?: string;

  /** Scopes of the session. Default: webhooks:read, webhooks:write and deliveries:read, as far as you hold them. */
  @Optional()
  @IsScopes({ required: false })
  scopes?: Scope[];

  /** Lifetime of the session in seconds. Default: 12 hours, or as long as your token if that is shorter. */
  @ApiProperty({ type: 'integer', required: false, minimum: 300, maximum: 604_800 })
  @Optional()
  @IsWholeNumber(300, 604_800)
  expiresInSeconds?: number;

  /** The page that the link opens. */
  @ApiProperty({ required: false, default: '/console', maxLength: 2000, pattern: CONSOLE_PATH.source })
  @Optional()
  @MaxLength(2000)
  @Matches(CONSOLE_PATH, { message: 'path must be a page of the console, such as /console/deliveries?status=failed' })
  path?: string;
}

export class ConsoleLinkDto {
  /**
   * Path of the page, with the code in its fragment.
   * @example /console#code=0123456789abcdefghijklmnopqrstuvwxyzABCDEFG
   */
  url: string;

  /** When the link expires. */
  @ApiTime()
  codeExpiresAt: string;

  /** When the session expires. */
  @ApiTime()
  expiresAt: string;

  static from({ url, codeExpiresAt, expiresAt }: ConsoleLink): ConsoleLinkDto {
    return { url, codeExpiresAt: codeExpiresAt.toISOString(), expiresAt: expiresAt.toISOString() };
  }
}
