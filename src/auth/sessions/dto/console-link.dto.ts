import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsArray, IsIn, Matches, MaxLength } from 'class-validator';
import { USER_ID } from 'webhook-notification/catalogue';
import { MESSAGES } from '../../../plumbing/errors/messages';
import { ApiTime } from '../../../plumbing/validation/api-field.decorator';
import { Optional } from '../../../plumbing/validation/optional.decorator';
import { IsWholeNumber } from '../../../plumbing/validation/whole-number.decorator';
import { ALL_SCOPES, type Scope } from '../../scope';
import { CONSOLE_PATH } from '../console-link';
import type { ConsoleLink } from '../console-links.service';

export class CreateConsoleLinkDto {
  /** Who is signed in; absent: you. Another user takes the scope users:manage. */
  @ApiProperty({ required: false, pattern: USER_ID.source, example: 'alice' })
  @Optional()
  @Matches(USER_ID, { message: MESSAGES.badUserId })
  userId?: string;

  /** What the session may do; absent: webhooks:read, webhooks:write and deliveries:read, as far as you may. */
  @ApiProperty({
    ...{ enum: ALL_SCOPES, isArray: true, required: false },
    ...{ minItems: 1, maxItems: ALL_SCOPES.length, uniqueItems: true, example: ['webhooks:read'] },
  })
  @Optional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(ALL_SCOPES.length)
  @ArrayUnique({ message: 'scopes must name each scope only once' })
  @IsIn(ALL_SCOPES, { each: true, message: `scopes must be among ${ALL_SCOPES.join(', ')}` })
  scopes?: Scope[];

  /** How long the session lives; absent: 12 hours, or as long as your token if that is less. */
  @ApiProperty({ type: 'integer', required: false, minimum: 300, maximum: 604_800 })
  @Optional()
  @IsWholeNumber(300, 604_800)
  expiresInSeconds?: number;

  /** The page that it leads to. */
  @ApiProperty({ required: false, default: '/console', maxLength: 2000, pattern: CONSOLE_PATH.source })
  @Optional()
  @MaxLength(2000)
  @Matches(CONSOLE_PATH, { message: 'path must be a page of the console, such as /console/deliveries?status=failed' })
  path?: string;
}

export class ConsoleLinkDto {
  /**
   * The path of the page, with the code in its fragment.
   * @example /console#code=0123456789abcdefghijklmnopqrstuvwxyzABCDEFG
   */
  url: string;

  /** Until when the link can be opened. */
  @ApiTime()
  codeExpiresAt: string;

  /** When the session ends. */
  @ApiTime()
  expiresAt: string;

  static from({ url, codeExpiresAt, expiresAt }: ConsoleLink): ConsoleLinkDto {
    return { url, codeExpiresAt: codeExpiresAt.toISOString(), expiresAt: expiresAt.toISOString() };
  }
}
