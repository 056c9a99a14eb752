import { Injectable } from '@nestjs/common';
import { DataSource, type QueryDeepPartialEntity } from 'typeorm';
import { ClockService } from '../infrastructure/database/clock.service';
import { ApiError, messageFor, MESSAGES } from '../infrastructure/errors/api-error';
import { Webhook } from './webhook.entity';
import { SecretsService } from './secrets/secrets.service';

/** How a secret replaces another one. */
interface Rotation {
  /** For how long the old one also signs deliveries. */
  overlapSeconds: number;
  /** Ends the overlap of an earlier rotation. */
  force: boolean;
}

/** The secret in plaintext. It is not shown again. */
export interface RotatedSecret {
  secret: string;
  /** Null when there never was an old secret. */
  previousSecretExpiresAt: Date | null;
}

/** Replaces a webhook's secret, with an overlap so that its receiver has time to switch. */
@Injectable()
export class SecretRotationService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: ClockService,
    private readonly secrets: SecretsService,
  ) {}

  /**
   * Sets the webhook's secret to `wanted`, or to a generated one. Changes nothing if it is the secret in force: the answer to an
   * earlier request may have been lost.
   */
  async rotate(userId: string, id: string, rotation: Rotation, wanted?: string): Promise<RotatedSecret> {
    const secret = wanted ?? this.secrets.generate();
    return this.dataSource.transaction(async (manager) => {
      const before = await manager.findOne(Webhook, { where: { userId, id }, lock: { mode: 'pessimistic_write' } });
      if (!before) throw new ApiError('not_found', MESSAGES.webhookNotFound);
      const { previousSecretExpiresAt } = before;
      if (this.isInForce(before, secret)) return { secret, previousSecretExpiresAt };
      await manager.update(Webhook, { id }, { ...this.change(before, secret, rotation), updatedAt: () => 'now()' });
      const after = await manager.findOneByOrFail(Webhook, { id });
      return { secret, previousSecretExpiresAt: after.previousSecretExpiresAt };
    });
  }

  /** Returns whether a webhook has this secret. */
  isInForce({ id, secret }: Webhook, wanted: string): boolean {
    return this.secrets.openSigning(id, secret) === wanted;
  }

  /**
   * Returns the columns that make another secret that of a webhook, and the current one the previous one.
   * @throws ApiError 409 while an earlier rotation overlaps, unless forced
   */
  change(before: Webhook, wanted: string, { overlapSeconds, force }: Rotation): QueryDeepPartialEntity<Webhook> {
    const endsAt = before.previousSecret && before.previousSecretExpiresAt;
    if (!force && endsAt && endsAt > this.clock.now())
      throw new ApiError('rotation_running', messageFor.rotationRunning(endsAt.toISOString()));
    return {
      secret: this.secrets.sealSigning(before.id, wanted),
      secretRotatedAt: () => 'now()',
      previousSecret: overlapSeconds > 0 ? before.secret : null,
      previousSecretExpiresAt: () => `now() + ${overlapSeconds} * interval '1 second'`,
    };
  }
}
