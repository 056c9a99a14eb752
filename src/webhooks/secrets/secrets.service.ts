import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config';
import { isSealedUnder, NONCE_BYTES, open, seal } from './secret-box';

/** Generates signing secrets and encrypts them under `SECRETS_KEY`. */
@Injectable()
export class SecretsService {
  constructor(private readonly config: Config) {}

  /** Generates a secret in the format of Standard Webhooks: `whsec_` and base64 of 32 random bytes. */
  generate(): string {
    return `whsec_${randomBytes(32).toString('base64')}`;
  }

  /**
   * Encrypts a secret of this webhook under the first key.
   * @throws Error when no key is configured
   */
  seal(webhookId: string, secret: string): Buffer {
    return seal(secret, webhookId, this.firstKey(), randomBytes(NONCE_BYTES));
  }

  /** Re-encrypts a secret under the first key. Returns it unchanged if it already uses that key, null if no key opens it. */
  reseal(webhookId: string, sealed: Buffer): Buffer | null {
    const secret = this.open(webhookId, sealed);
    if (secret === null) return null;
    return isSealedUnder(sealed, this.firstKey()) ? sealed : this.seal(webhookId, secret);
  }

  /** Decrypts a secret of this webhook; null if no key opens it. */
  open(webhookId: string, sealed: Buffer): string | null {
    return open(sealed, webhookId, this.config.secretsKeys);
  }

  private firstKey(): Buffer {
    const [key] = this.config.secretsKeys;
    if (!key) throw new Error('There is no key to encrypt secrets with.');
    return key;
  }
}
