import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApiError, MESSAGES } from '../../infrastructure/errors/api-error';
import { SecretsService } from './secrets.service';

/** Makes the current secret the previous one and discards the older one, in one statement. */
const ROTATE = `
  update webhook_service.webhooks set
    previous_secret = case when $4::int > 0 then secret end,
    previous_secret_expires_at = now() + $4::int * interval '1 second',
    secret = $3, secret_rotated_at = now(), updated_at = now()
  where user_id = $1 and id = $2
  returning previous_secret_expires_at as "previousSecretExpiresAt"`;

/** The new secret in plaintext. It is not shown again. */
export interface RotatedSecret {
  secret: string;
  previousSecretExpiresAt: Date;
}

/** Rotates a webhook's secret with an overlap, so that its receiver has time to switch. */
@Injectable()
export class SecretRotationService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly secrets: SecretsService,
  ) {}

  /** Sets the webhook's secret, by default to a generated one. The old one also signs deliveries for `overlapSeconds`. */
  async rotate(userId: string, id: string, overlapSeconds: number, wanted?: string): Promise<RotatedSecret> {
    const secret = wanted ?? this.secrets.generate();
    const values = [userId, id, this.secrets.seal(id, secret), overlapSeconds];
    const [[rotated]] = await this.dataSource.query<[Omit<RotatedSecret, 'secret'>[], number]>(ROTATE, values);
    if (!rotated) throw new ApiError('not_found', MESSAGES.webhookNotFound);
    return { secret, ...rotated };
  }
}
