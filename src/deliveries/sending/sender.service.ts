import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { EventCatalogue } from 'webhook-notification/catalogue';
import { version } from '../../infrastructure/config/version';
import { ClockService } from '../../infrastructure/database/clock.service';
import type { HttpResult } from '../../infrastructure/destinations/http-result';
import { HttpClient } from '../../infrastructure/destinations/http.client';
import { childTraceparent } from '../../events/traceparent';
import { SecretsService } from '../../webhooks/secrets/secrets.service';
import { formatted } from '../../webhooks/formats/event-format';
import type { Attempt, Exchange } from '../attempt';
import type { DueWebhook } from '../due-webhook';
import type { SigningSecrets } from 'webhook-notification';
import { prepare } from './signed-request';

/** A request that was made: its exchange for the log, and its result. */
export interface SentRequest {
  exchange: Exchange;
  result: HttpResult;
}

/** Builds, signs and sends the request of an attempt. */
@Injectable()
export class SenderService {
  constructor(
    private readonly clock: ClockService,
    private readonly secrets: SecretsService,
    private readonly http: HttpClient,
    private readonly catalogue: EventCatalogue,
  ) {}

  /**
   * Sends the request, with `timeoutMs` as its deadline. Returns null without sending when the webhook's secret cannot be
   * decrypted.
   */
  async send(delivery: Attempt, webhook: DueWebhook, timeoutMs: number): Promise<SentRequest | null> {
    const secrets = this.secretsOf(delivery.webhookId, webhook);
    if (!secrets) return null;
    const attemptedAt = this.clock.now();
    const traceparent = delivery.traceparent && childTraceparent(delivery.traceparent, randomBytes(8).toString('hex'));
    const { format } = webhook;
    const description = this.catalogue.find(delivery.event)?.description ?? null;
    const { contentType, body } = formatted(format, { body: delivery.body, userId: delivery.audience, description });
    const sendable = { ...delivery, url: webhook.url, body, contentType, traceparent };
    const request = prepare(sendable, secrets, attemptedAt, version);
    const result = await this.http.post(request, timeoutMs);
    const exchange = {
      url: webhook.url,
      attemptedAt,
      durationMs: result.durationMs,
      requestHeaders: request.headers,
      formatted: format === 'native' ? null : { format, body },
      response: result.kind === 'response' ? result : null,
    };
    return { exchange, result };
  }

  /** Returns null when the secret cannot be decrypted. A previous secret that cannot be decrypted is omitted. */
  private secretsOf(id: string, { sealedSecret, sealedPreviousSecret }: DueWebhook): SigningSecrets | null {
    const current = this.secrets.open(id, sealedSecret);
    return current === null
      ? null
      : { current, previous: sealedPreviousSecret && this.secrets.open(id, sealedPreviousSecret) };
  }
}
