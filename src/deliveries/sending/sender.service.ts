import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Span } from '@opentelemetry/api';
import { ClockService } from '../../infrastructure/database/clock.service';
import type { HttpResult } from '../../infrastructure/destinations/http-result';
import { HttpClient } from '../../infrastructure/destinations/http.client';
import { traceparentOf } from '../../events/spans';
import { childTraceparent } from '../../events/traceparent';
import { HIDDEN } from '../../webhooks/headers/header-rules';
import { HeadersService } from '../../webhooks/headers/headers.service';
import { redactionOf } from '../../webhooks/headers/redaction';
import type { Attempt, Exchange } from '../attempt';
import type { HeaderMap } from '../delivery.entity';
import type { DueWebhook } from '../due-webhook';
import { RequestSignerService } from './request-signer.service';

/** A request that was made: its exchange for the log, and its result. */
export interface SentRequest {
  exchange: Exchange;
  result: HttpResult;
}

/** Sends the signed request of an attempt. */
@Injectable()
export class SenderService {
  constructor(
    private readonly clock: ClockService,
    private readonly signer: RequestSignerService,
    private readonly http: HttpClient,
    private readonly headers: HeadersService,
  ) {}

  /**
   * Sends the request, with `timeoutMs` as its deadline. Returns null without sending when the webhook's secret cannot be
   * decrypted.
   * @param span of this request; the receiver gets its id if it is recorded
   */
  async send(delivery: Attempt, webhook: DueWebhook, timeoutMs: number, span: Span): Promise<SentRequest | null> {
    const attemptedAt = this.clock.now();
    const signed = this.signer.sign(delivery, webhook, attemptedAt, sentTraceparent(span, delivery));
    if (!signed) return null;
    const { url, format } = webhook;
    const own = this.ownHeadersOf(delivery.webhookId, webhook);
    const request = { url, body: signed.body, headers: own ? { ...own, ...signed.headers } : signed.headers };
    const received = await this.http.post(request, timeoutMs);
    const result = own ? redacted(received, Object.values(own)) : received;
    const exchange = {
      url,
      attemptedAt,
      durationMs: result.durationMs,
      requestHeaders: own ? { ...hidden(own), ...signed.headers } : signed.headers,
      formatted: format === 'native' ? null : { format, body: signed.body },
      response: result.kind === 'response' ? result : null,
    };
    return { exchange, result };
  }

  /** Returns the headers that the owner wants to be sent to this url, with names in lower case; null when there are none. */
  private ownHeadersOf(id: string, { url, headers }: DueWebhook): Record<string, string> | null {
    if (!headers) return null;
    const opened = Object.entries(this.headers.open({ id, url, headers }));
    return Object.fromEntries(opened.map(([name, value]) => [name.toLowerCase(), value]));
  }
}

function sentTraceparent(span: Span, { traceparent }: Attempt): string | null {
  if (span.isRecording()) return traceparentOf(span);
  return traceparent && childTraceparent(traceparent, randomBytes(8).toString('hex'));
}

/** Returns the headers of an owner as the log shows them. */
const hidden = (own: HeaderMap): HeaderMap => Object.fromEntries(Object.keys(own).map((name) => [name, HIDDEN]));

/** Hides the values that were sent in everything that the receiver returned. */
function redacted(result: HttpResult, values: readonly string[]): HttpResult {
  if (result.kind !== 'response') return result;
  const redact = redactionOf(values);
  const headers = Object.entries(result.headers).map(([name, value]): [string, string | string[]] => [
    redact(name, false),
    Array.isArray(value) ? value.map((each) => redact(each, false)) : redact(value, false),
  ]);
  return { ...result, headers: Object.fromEntries(headers), body: redact(result.body, result.bodyTruncated) };
}
