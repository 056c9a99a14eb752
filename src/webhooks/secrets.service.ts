import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config';
import { NONCE_BYTES, open, seal } from './secret-box';

/** Makes signing secrets and keeps them encrypted under `SECRETS_KEY`. */
@Injectable()
export class SecretsService {
  constructor(private readonly config: Config) {}

  /** A fresh secret as Standard Webhooks writes it: `whsec_` and base64 of 32 random bytes. */
  generate(): string {
    return `whsec_${randomBytes(32).toString('base64')}`;
  }

  seal(webhookId: string, secret: string): Buffer {
    const [key] = this.config.secretsKeys;
    if (!key) throw new Error('There is no key to encrypt secrets with.');
    return seal(secret, webhookId, key, randomBytes(NONCE_BYTES));
  }

  /** Null when none of the keys opens it. */
  open(webhookId: string, sealed: Buffer): string | null {
    return open(sealed, webhookId, this.config.secretsKeys);
  }
}
