import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { ApiError } from '../../plumbing/errors/api-error';
import { MESSAGES } from '../../plumbing/errors/messages';
import { SecretsService } from './secrets.service';

/** In one statement the current secret becomes the previous one, and the one before that is forgotten. */
const ROTATE = `
  update webhook_service.webhooks set
    previous_secret = case when $4::int > 0 then secret end,
    previous_secret_expires_at = now() + $4::int * interval '1 second',
    secret = $3, updated_at = now()
  where user_id = $1 and id = $2
  returning previous_secret_expires_at as "previousSecretExpiresAt"`;

/** The new secret in the clear. It is not shown again. */
export interface RotatedSecret {
  secret: string;
  previousSecretExpiresAt: Date;
}

/** Rotates the secret of a webhook so that its receiver has time to follow. */
@Injectable()
export class SecretRotationService {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly secrets: SecretsService,
  ) {}

  /**
   * Gives the webhook the secret `wanted`, or a fresh one. The old secret signs deliveries too for `overlapSeconds`.
   * @throws ApiError 404 when the user has no such webhook
   */
  async rotate(userId: string, id: string, overlapSeconds: number, wanted?: string): Promise<RotatedSecret> {
    const secret = wanted ?? this.secrets.generate();
    const values = [userId, id, this.secrets.seal(id, secret), overlapSeconds];
    const [[rotated]] = await this.dataSource.query<[Omit<RotatedSecret, 'secret'>[], number]>(ROTATE, values);
    if (!rotated) throw new ApiError(404, MESSAGES.webhookNotFound);
    return { secret, ...rotated };
  }
}
