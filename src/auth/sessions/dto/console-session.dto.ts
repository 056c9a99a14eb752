import { ApiProperty } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { ApiTime } from '../../../plumbing/validation/api-field.decorator';
import { Optional } from '../../../plumbing/validation/optional.decorator';
import { ALL_SCOPES, type Scope } from '../../scope';
import type { ConsoleSession } from '../console-sessions.service';

const CODE = /^[A-Za-z0-9_-]{43}$/;

export class CreateConsoleSessionDto {
  /**
   * From the fragment of a link. Leave it out to make a session of your access token.
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

  /** Who is signed in. */
  userId: string;

  /** What the session may do. */
  @ApiProperty({ enum: ALL_SCOPES, isArray: true })
  scopes: Scope[];

  /** When it ends. */
  @ApiTime()
  expiresAt: string;

  static from({ token, row }: ConsoleSession): ConsoleSessionDto {
    return { token, userId: row.userId, scopes: row.scopes, expiresAt: row.expiresAt?.toISOString() ?? '' };
  }
}
