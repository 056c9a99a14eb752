import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { SigningSecrets } from 'webhook-notification';
import { isLoose } from 'webhook-notification/catalogue';
import { Config } from '../../infrastructure/config/config';
import { isSealedUnder, keyId, NONCE_BYTES, open, seal } from './secret-box';

/** Takes the place of a webhook id when the check value of an installation is encrypted. */
const CHECK_CONTEXT = 'installation';

/**
 * Begins a stored secret whose key is decoded although its base64 is not canonical. Versions before 1.0 signed with the text of such
 * a secret, and those that they stored keep that.
 */
const DECODED = '\0';

/** The sealed values of a webhook that an attempt needs. */
export interface SealedValues {
  id: string;
  secret: Buffer;
  /** Null unless a rotation overlaps. */
  previousSecret: Buffer | null;
  /** In base64, by name; null: none. */
  headers: Readonly<Record<string, string>> | null;
}

/** Generates signing secrets and encrypts them under `SECRETS_KEY`. */
@Injectable()
export class SecretsService {
  constructor(private readonly config: Config) {}

  /** Generates a secret in the format of Standard Webhooks: `whsec_` and base64 of 32 random bytes. */
  generate(): string {
    return `whsec_${randomBytes(32).toString('base64')}`;
  }

  /** Encrypts a secret of this webhook under the first key. Throws when no key is configured. */
  seal(webhookId: string, secret: string): Buffer {
    return seal(secret, webhookId, this.firstKey(), randomBytes(NONCE_BYTES));
  }

  /** Like `seal`, for the signing secret of a webhook. */
  sealSigning(webhookId: string, secret: string): Buffer {
    return this.seal(webhookId, isLoose(secret) ? `${DECODED}${secret}` : secret);
  }

  /** Decrypts the signing secret of a webhook, as its owner set it; null if no key opens it. */
  openSigning(webhookId: string, sealed: Buffer): string | null {
    return this.open(webhookId, sealed)?.replace(DECODED, '') ?? null;
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

  /**
   * Decrypts the secrets that sign the attempts of a webhook. Null when one of them does not open, or when no key is there for one
   * of its headers: a receiver would refuse an attempt without it.
   */
  openAll({ id, secret, previousSecret, headers }: SealedValues): SigningSecrets | null {
    const current = this.open(id, secret);
    const previous = previousSecret && this.open(id, previousSecret);
    if (current === null || (previousSecret && previous === null)) return null;
    const sealed = Object.values(headers ?? {});
    return sealed.every((value) => this.hasKeyOf(Buffer.from(value, 'base64')))
      ? { current: signing(current), previous: previous && signing(previous) }
      : null;
  }

  /** Seals the check value of the installation under the first key. */
  sealCheck(): string {
    return this.seal(CHECK_CONTEXT, CHECK_CONTEXT).toString('base64');
  }

  opensCheck(check: string): boolean {
    return this.open(CHECK_CONTEXT, Buffer.from(check, 'base64')) !== null;
  }

  /** The ids of the keys, in hexadecimal, for people. */
  keyIds(): string[] {
    return this.config.secretsKeys.map((key) => keyId(key).toString('hex'));
  }

  private hasKeyOf(sealed: Buffer): boolean {
    return this.config.secretsKeys.some((key) => isSealedUnder(sealed, key));
  }

  private firstKey(): Buffer {
    const [key] = this.config.secretsKeys;
    if (!key) throw new Error('There is no key to encrypt secrets with.');
    return key;
  }
}

function signing(stored: string): SigningSecrets['current'] {
  if (stored.startsWith(DECODED)) return stored.slice(DECODED.length);
  return isLoose(stored) ? { text: stored } : stored;
}
