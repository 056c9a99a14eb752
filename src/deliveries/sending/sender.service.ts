import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Span } from '@opentelemetry/api';
import { Config } from '../../infrastructure/config/config';
import { isReservedHeader } from '../../infrastructure/config/header-prefixes';
import { ClockService } from '../../infrastructure/database/clock.service';
import type { HttpResult } from '../../infrastructure/destinations/exchange.client';
import { HttpClient } from '../../infrastructure/destinations/http.client';
import { endSpan, failSpan, startStep, traceparentOf } from '../../events/spans';
import { childTraceparent } from '../../events/traceparent';
import { HIDDEN } from '../../webhooks/headers/header-rules';
import { HeadersService } from '../../webhooks/headers/headers.service';
import { redactionOf } from '../../webhooks/headers/redaction';
import type { Attempt, Exchange, Outcome } from '../rows/attempt';
import type { HeaderMap } from '../rows/delivery.entity';
import type { DueWebhook } from '../rows/due-webhook';
import { errorBefore, type Wait, waitAfter } from '../rows/waits';
import { retryAfterMs } from './backoff';
import { classify, outcomeOf, unsent, withoutOurClock } from './classify';
import { keptBody, RequestSignerService, type SignedRequest } from './request-signer.service';

interface Prepared {
  attemptedAt: Date;
  signed: SignedRequest;
  own: Record<string, string> | null;
}

/** The code of an attempt whose webhook has a secret or a header that no key opens. */
const UNREADABLE = 'service_failed';

/** Makes an attempt an outcome: prepares the signed request, exchanges it for a response, and classifies that. */
@Injectable()
export class SenderService {
  constructor(
    private readonly config: Config,
    private readonly clock: ClockService,
    private readonly signer: RequestSignerService,
    private readonly http: HttpClient,
    private readonly headers: HeadersService,
  ) {}

  /**
   * Sends the request of an attempt, unless its webhook must not receive it. Returns a wait instead of an outcome when our side
   * failed, so that the attempt is put back. A test has to say so at once.
   */
  async send(delivery: Attempt): Promise<Outcome | Wait> {
    const { id, trigger, webhook } = delivery;
    if (!webhook) return unsent(id, 'canceled', 'webhook_deleted');
    if (!webhook.active && trigger !== 'test') return unsent(id, 'canceled', 'webhook_disabled');
    const { fields } = webhook;
    const sent = fields ? await this.signer.select(delivery, fields) : delivery;
    if (!sent) return unsent(id, 'failed', 'projection_failed');
    const timeoutMs = Math.min(webhook.timeoutMs ?? Infinity, this.config.deliveryTimeoutMs);
    const span = startDeliver(delivery, webhook);
    try {
      const prepared = this.prepare(sent, webhook, span);
      const outcome = prepared
        ? await this.exchange(delivery, webhook, prepared, timeoutMs)
        : (trigger !== 'test' && waitAfter(UNREADABLE)) || unsent(id, 'failed', UNREADABLE);
      if (typeof outcome === 'string') endSpan(span, errorBefore(outcome));
      else endDeliver(span, outcome);
      return outcome;
    } catch (error) {
      failSpan(span, error);
      throw error;
    }
  }

  private prepare(delivery: Attempt, webhook: DueWebhook, span: Span): Prepared | null {
    const attemptedAt = this.clock.now();
    const signed = this.signer.sign(delivery, webhook, attemptedAt, sentTraceparent(span, delivery));
    return signed && { attemptedAt, signed, own: this.ownHeadersOf(delivery.webhookId, webhook) };
  }

  private async exchange(
    delivery: Attempt,
    { url, format, retryDelaysMs }: DueWebhook,
    { attemptedAt, signed, own }: Prepared,
    timeoutMs: number,
  ): Promise<Outcome | Wait> {
    const request = { url, body: signed.body, headers: own ? { ...own, ...signed.headers } : signed.headers };
    const received = withoutOurClock(await this.http.post(request, timeoutMs), this.clock.offsetMs());
    const result = own ? redacted(received, Object.values(own)) : received;
    const wait = result.kind === 'failure' && delivery.trigger !== 'test' ? waitAfter(result.code) : null;
    if (wait) return wait;
    const exchange: Exchange = {
      url,
      attemptedAt,
      durationMs: result.durationMs,
      requestHeaders: own ? { ...hidden(own), ...signed.headers } : signed.headers,
      formatted: keptBody(format, signed.body, delivery.body),
      response: result.kind === 'response' ? result : null,
    };
    const notBeforeMs = requestedDelayMs(result, attemptedAt);
    const plan = { schedule: this.config, retryDelaysMs, random: Math.random(), notBeforeMs };
    return outcomeOf(delivery, exchange, classify(result, timeoutMs, url), plan);
  }

  /**
   * Returns the headers that the owner wants to be sent to this url, with names in lower case; null when there are none. Omits
   * those that `HEADER_PREFIX` has reserved since they were set.
   */
  private ownHeadersOf(id: string, { url, headers }: DueWebhook): Record<string, string> | null {
    if (!headers) return null;
    const opened = Object.entries(this.headers.open({ id, url, headers }));
    const { headerPrefix } = this.config;
    const kept = opened.filter(([name]) => !isReservedHeader(name, headerPrefix));
    return Object.fromEntries(kept.map(([name, value]) => [name.toLowerCase(), value]));
  }
}

function sentTraceparent(span: Span, { traceparent }: Attempt): string | null {
  if (span.isRecording()) return traceparentOf(span);
  return traceparent && childTraceparent(traceparent, randomBytes(8).toString('hex'));
}

/** Returns the requested delay in ms. `Retry-After` means "later" only with 429 and 503. */
function requestedDelayMs(result: HttpResult, attemptedAt: Date): number {
  if (result.kind !== 'response' || (result.status !== 429 && result.status !== 503)) return 0;
  return retryAfterMs(result.headers['retry-after'], new Date(attemptedAt.getTime() + result.durationMs));
}

const hidden = (own: HeaderMap): HeaderMap => Object.fromEntries(Object.keys(own).map((name) => [name, HIDDEN]));

/** Hides the values that were sent in everything that the receiver returned. */
function redacted(result: HttpResult, values: readonly string[]): HttpResult {
  if (result.kind !== 'response') return result;
  const redact = redactionOf(values);
  const headers = Object.entries(result.headers).map(([name, value]): [string, string | string[]] => [
    redact(name, false, true),
    Array.isArray(value) ? value.map((each) => redact(each, false)) : redact(value, false),
  ]);
  return { ...result, headers: Object.fromEntries(headers), body: redact(result.body, result.bodyTruncated) };
}

/** Starts the span of a request, without the path of its url. */
export function startDeliver({ id, eventId, webhookId, traceparent }: Attempt, { url }: { url: string }): Span {
  const span = startStep('deliver', traceparent, {
    'webhooks.event.id': eventId,
    'webhooks.webhook.id': webhookId,
    'webhooks.delivery.id': id,
  });
  if (!span.isRecording()) return span;
  const { hostname, port, protocol } = new URL(url);
  return span.setAttributes({
    'http.request.method': 'POST',
    'server.address': hostname.replace(/^\[|\]$/g, ''),
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  });
}

function endDeliver(span: Span, { error, exchange }: Outcome): void {
  if (exchange?.response) span.setAttribute('http.response.status_code', exchange.response.status);
  endSpan(span, error?.code);
}
