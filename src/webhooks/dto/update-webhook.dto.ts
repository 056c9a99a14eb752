import type { Type } from '@nestjs/common';
import { ApiProperty, PartialType } from '@nestjs/swagger';
import { standardSecret } from 'webhook-notification';
import { ApiTime, IsWholeNumber, Optional } from '../../infrastructure/validation/api-field.decorator';
import type { HeaderChanges } from '../headers/header-rules';
import type { RotatedSecret } from '../secret-rotation.service';
import { IsForce, IsHeaders, IsSecret } from './webhook-fields.decorator';
import { WebhookFieldsDto } from './webhook-fields.dto';

/** Changes to a webhook. Absent fields keep their values. */
export class UpdateWebhookDto extends (PartialType(WebhookFieldsDto, { skipNullProperties: false }) as Type<
  Partial<Omit<WebhookFieldsDto, 'events' | 'secret' | 'headers'>>
>) {
  /**
   * The complete new list of event names and patterns.
   * @example ["*"]
   */
  events?: string[];

  /** The new secret. It takes effect immediately. While a rotation overlaps, another secret returns 409 `rotation_running`. */
  secret?: string;

  /**
   * Headers to set or, with null, to remove; others stay. Null removes all. A change of the origin of `url` returns 409 unless
   * the request sets or removes each header.
   */
  @IsHeaders(true, { 'x-api-key': 'k-4f2a91', 'x-old-key': null })
  headers?: HeaderChanges | null;

  /** Set another secret even while a rotation overlaps: the older secret stops signing at once. */
  @IsForce()
  force?: boolean = false;
}

const MAX_OVERLAP_SECONDS = 604_800;

export class SecretRotationDto {
  /**
   * The new secret: 8 to 256 printable characters. Generated if absent.
   * @example correct horse battery staple
   */
  @IsSecret()
  secret?: string;

  /** Seconds for which deliveries also carry a signature of the old secret: at most a week; 0 means none. */
  @ApiProperty({ type: 'integer', required: false, minimum: 0, maximum: MAX_OVERLAP_SECONDS, default: 86_400 })
  @Optional()
  @IsWholeNumber(0, MAX_OVERLAP_SECONDS)
  overlapSeconds: number = 86_400;

  /** Rotate even while an earlier rotation overlaps: the oldest secret stops signing at once. Otherwise that returns 409. */
  @IsForce()
  force: boolean = false;
}

export class RotatedSecretDto {
  /**
   * The signing secret in force. Store it: it is not shown again.
   * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0vMWGZh0Xq4=
   */
  secret: string;

  /**
   * The same secret as Standard Webhooks libraries expect it: whsec_ and base64.
   * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0vMWGZh0Xq4=
   */
  standardSecret: string;

  /** Deliveries also carry a signature of the old secret until this time; null if there never was an old secret. */
  @ApiTime()
  previousSecretExpiresAt: string | null;

  static from({ secret, previousSecretExpiresAt }: RotatedSecret): RotatedSecretDto {
    return {
      secret,
      standardSecret: standardSecret(secret),
      previousSecretExpiresAt: previousSecretExpiresAt?.toISOString() ?? null,
    };
  }
}
