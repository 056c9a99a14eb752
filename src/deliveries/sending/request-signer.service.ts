import { Injectable } from '@nestjs/common';
import type { SigningSecrets } from 'webhook-notification';
import { EventCatalogue } from 'webhook-notification/catalogue';
import { Config } from '../../infrastructure/config/config';
import { version } from '../../infrastructure/config/version';
import { formatted } from '../../webhooks/formats/event-format';
import { SecretsService } from '../../webhooks/secrets/secrets.service';
import type { Attempt } from '../attempt';
import type { DueWebhook } from '../due-webhook';
import { prepare, type SignedRequest } from './signed-request';

/** The columns of a webhook that its signed requests depend on. */
export type SigningWebhook = Pick<DueWebhook, 'sealedSecret' | 'sealedPreviousSecret' | 'format'>;

/** Builds and signs what the receiver of an attempt gets. */
@Injectable()
export class RequestSignerService {
  constructor(
    private readonly config: Config,
    private readonly secrets: SecretsService,
    private readonly catalogue: EventCatalogue,
  ) {}

  /** Returns the request of an attempt that begins at `at`; null when the webhook's secret cannot be decrypted. */
  sign(
    attempt: Omit<Attempt, 'webhook'>,
    webhook: SigningWebhook,
    at: Date,
    traceparent: string | null,
  ): SignedRequest | null {
    const secrets = this.secretsOf(attempt.webhookId, webhook);
    if (!secrets) return null;
    const { body: eventBody, audience: userId, event } = attempt;
    const description = this.catalogue.find(event)?.description ?? null;
    const { contentType, body } = formatted(webhook.format, { body: eventBody, userId, description });
    const { id, eventId, attempt: number, trigger } = attempt;
    const withSvix = this.config.signatureHeaders === 'svix';
    const sendable = { id, eventId, event, attempt: number, trigger, body, contentType, withSvix, traceparent };
    return prepare(sendable, secrets, at, version);
  }

  /** Returns null when the secret cannot be decrypted. A previous secret that cannot be decrypted is omitted. */
  private secretsOf(id: string, { sealedSecret, sealedPreviousSecret }: SigningWebhook): SigningSecrets | null {
    const current = this.secrets.open(id, sealedSecret);
    return current === null
      ? null
      : { current, previous: sealedPreviousSecret && this.secrets.open(id, sealedPreviousSecret) };
  }
}
