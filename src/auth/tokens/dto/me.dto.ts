import type { Principal } from '../../access-token';
import { ALL_SCOPES, type Scope } from '../../scope';
import { ApiProperty } from '@nestjs/swagger';
import { ApiId, ApiTime } from '../../../plumbing/validation/api-field.decorator';

export class MeDto {
  /** Id of the token, as in the list of tokens; null: it is BOOTSTRAP_TOKEN, or of an identity provider. */
  @ApiId()
  tokenId: string | null;

  /** The user that the token belongs to. */
  userId: string;

  /** What the token may do. */
  @ApiProperty({ enum: ALL_SCOPES, isArray: true })
  scopes: Scope[];

  /** When the token ends; null if it does not expire. */
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
