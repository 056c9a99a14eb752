import { Injectable } from '@nestjs/common';
import { signatureHeaders, type SigningSecrets } from 'webhook-notification';
import { encodedSubject, EventCatalogue } from 'webhook-notification/catalogue';
import { Config } from '../../infrastructure/config/config';
import { type HeaderNames, headerNames } from '../../infrastructure/config/header-prefixes';
import { type EventFormat, formatted } from '../../webhooks/formats/event-format';
import { ProjectionsService } from '../../webhooks/projections.service';
import { SecretsHealthService } from '../../webhooks/secrets/secrets-health.service';
import { SecretsService } from '../../webhooks/secrets/secrets.service';
import type { Attempt, Formatted } from '../rows/attempt';
import type { DueWebhook } from '../rows/due-webhook';

interface Sendable {
  id: string;
  eventId: string;
  event: string;
  attempt: number;
  trigger: string;
  body: string;
  contentType: string;
  subject: string | null;
  /** W3C Trace Context of this attempt; null when its event has no trace. */
  traceparent: string | null;
}

export interface SignedRequest {
  headers: Record<string, string>;
  body: string;
}

export type SigningWebhook = Pick<DueWebhook, 'sealedSecret' | 'sealedPreviousSecret' | 'format' | 'headers'>;

/** What the settings say about the headers of each request. */
export interface Branding {
  names: readonly HeaderNames[];
  userAgent: string;
  /** Whether the signature also goes in the headers of Svix. */
  withSvix: boolean;
}

@Injectable()
export class RequestSignerService {
  private readonly branding: Branding;

  constructor(
    { headerPrefix, userAgent, signatureHeaders: also }: Config,
    private readonly secrets: SecretsService,
    private readonly secretsHealth: SecretsHealthService,
    private readonly catalogue: EventCatalogue,
    private readonly projections: ProjectionsService,
  ) {
    this.branding = { names: headerPrefix.map(headerNames), userAgent, withSvix: also === 'svix' };
  }

  /** Returns an attempt whose body has only these fields of the data; null when they cannot be selected. */
  select<A extends Attempt>(attempt: A, fields: readonly string[]): Promise<A | null> {
    return this.projections.of(attempt, fields);
  }

  /** Returns the request of an attempt that begins at `at`; null when a secret or a header of the webhook cannot be decrypted. */
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
    const { id, eventId, attempt: number, trigger, subject } = attempt;
    const sendable = { id, eventId, event, attempt: number, trigger, body, contentType, subject, traceparent };
    return prepare(sendable, secrets, at, this.branding);
  }

  /** Returns null when one of the sealed values cannot be decrypted, and notes that for readiness. */
  private secretsOf(id: string, webhook: SigningWebhook): SigningSecrets | null {
    const { sealedSecret: secret, sealedPreviousSecret: previousSecret, headers } = webhook;
    const secrets = this.secrets.openAll({ id, secret, previousSecret, headers });
    if (!secrets) this.secretsHealth.note(id);
    return secrets;
  }
}

/** Returns what a row keeps of a sent body: nothing when it is the one that is stored with the event. */
export const keptBody = (format: EventFormat, sent: string, stored: string): Formatted | null =>
  sent === stored ? null : { format: format === 'native' ? undefined : format, body: sent };

/** Builds the signed request of one attempt. `at` is the time of this attempt, not of the event. */
export function prepare(
  delivery: Sendable,
  secrets: SigningSecrets,
  at: Date,
  { names, userAgent, withSvix }: Branding,
): SignedRequest {
  const { id, eventId, event, attempt, trigger, body, contentType, subject, traceparent } = delivery;
  const signature = signatureHeaders(body, eventId, Math.floor(at.getTime() / 1000), secrets, names);
  const headers: Record<string, string> = { 'content-type': contentType, 'user-agent': userAgent };
  for (const name of names) {
    headers[name.event] = event;
    headers[name.delivery] = id;
    headers[name.attempt] = String(attempt);
    headers[name.trigger] = trigger;
    if (subject !== null) headers[name.subject] = encodedSubject(subject);
  }
  Object.assign(headers, signature, withSvix && svixHeaders(signature), traceparent !== null && { traceparent });
  return { body, headers };
}

/** Svix signs in the same way as Standard Webhooks, under names of its own. */
function svixHeaders(signature: Record<string, string>): Record<string, string> {
  const standard = Object.entries(signature).filter(([name]) => name.startsWith('webhook-'));
  return Object.fromEntries(standard.map(([name, value]) => [name.replace('webhook', 'svix'), value]));
}
