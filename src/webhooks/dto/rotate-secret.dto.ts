import { ApiProperty } from '@nestjs/swagger';
import { Optional } from '../../plumbing/validation/optional.decorator';
import { IsWholeNumber } from '../../plumbing/validation/whole-number.decorator';
import type { RotatedSecret } from '../secrets/secret-rotation.service';
import { IsSecret } from './webhook-fields.decorator';
import { ApiTime } from '../../plumbing/validation/api-field.decorator';

const MAX_OVERLAP_SECONDS = 604_800;

export class RotateSecretDto {
  /**
   * The new secret: 8 to 256 printable characters. When absent the service makes one.
   * @example correct horse battery staple
   */
  @Optional()
  @IsSecret()
  secret?: string;

  /** For how long deliveries carry the old secret's signature as well: up to a week; 0: not at all. */
  @ApiProperty({ type: 'integer', required: false, minimum: 0, maximum: MAX_OVERLAP_SECONDS, default: 86_400 })
  @Optional()
  @IsWholeNumber(0, MAX_OVERLAP_SECONDS)
  overlapSeconds: number = 86_400;
}

export class RotatedSecretDto {
  /**
   * The new signing secret: keep it, it is not shown again.
   * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0vMWGZh0Xq4=
   */
  secret: string;

  /** Until then deliveries also carry the old secret's signature. */
  @ApiTime()
  previousSecretExpiresAt: string;

  static from({ secret, previousSecretExpiresAt }: RotatedSecret): RotatedSecretDto {
    return { secret, previousSecretExpiresAt: previousSecretExpiresAt.toISOString() };
  }
}
