import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsString, MaxLength } from 'class-validator';
import { Optional } from '../../../../plumbing/validation/optional.decorator';
import { IsWholeNumber } from '../../../../plumbing/validation/whole-number.decorator';
import { type Provider, PROVIDERS } from '../../account-handle';

export class CreateAccountDto {
  /** Where its followers come from: read from Mastodon or Bluesky, or pushed by you. */
  @ApiProperty({ enum: PROVIDERS, example: 'mastodon' })
  @IsIn(PROVIDERS, { message: `provider must be one of ${PROVIDERS.join(', ')}` })
  provider: Provider;

  /**
   * Mastodon: user and server; Bluesky: the handle; push: any name of yours, up to 256 characters.
   * @example ada@mastodon.social
   */
  @IsString()
  @MaxLength(320)
  handle: string;

  /** Seconds from one reading to the next, 60 to 86400; means nothing for push. */
  @ApiProperty({ type: 'integer', required: false, minimum: 60, maximum: 86_400, default: 300 })
  @Optional()
  @IsWholeNumber(60, 86_400)
  intervalSeconds?: number = 300;
}
