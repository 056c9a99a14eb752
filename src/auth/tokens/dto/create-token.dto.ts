import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsArray, IsIn, Matches } from 'class-validator';
import { USER_ID } from 'webhook-notification/catalogue';
import { MESSAGES } from '../../../plumbing/errors/messages';
import { patternOf } from '../../../plumbing/validation/api-field.decorator';
import { Optional } from '../../../plumbing/validation/optional.decorator';
import { IsTimeOrNull } from '../../../plumbing/validation/time.decorator';
import { ALL_SCOPES, type Scope } from '../../scope';

const SCOPES_BOUNDS = { minItems: 1, maxItems: ALL_SCOPES.length, uniqueItems: true };
const PRINTABLE = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

export class CreateTokenDto {
  /**
   * What the token is for, 1 to 128 printable characters.
   * @example Backend, production
   */
  @ApiProperty({ minLength: 1, maxLength: 128, pattern: patternOf(PRINTABLE) })
  @Matches(PRINTABLE, { message: 'name must be 1 to 128 printable characters' })
  name: string;

  /** What it may do: any of the scopes of the token that makes it. */
  @ApiProperty({ enum: ALL_SCOPES, isArray: true, ...SCOPES_BOUNDS, example: ['webhooks:read'] })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(ALL_SCOPES.length)
  @ArrayUnique({ message: 'scopes must name each scope only once' })
  @IsIn(ALL_SCOPES, { each: true, message: `scopes must be among ${ALL_SCOPES.join(', ')}` })
  scopes: Scope[];

  /** When it ends; null or absent: never, which only a token that does not end either can grant. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, required: false })
  @IsTimeOrNull()
  expiresAt?: Date | null;

  /** Whose token it is; absent: yours. Another user takes the scope users:manage. */
  @ApiProperty({ required: false, pattern: USER_ID.source, example: 'alice' })
  @Optional()
  @Matches(USER_ID, { message: MESSAGES.badUserId })
  userId?: string;
}
