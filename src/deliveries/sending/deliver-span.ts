import type { Span } from '@opentelemetry/api';
import { endSpan, startStep } from '../../events/spans';
import type { Attempt, Outcome } from '../attempt';

/** Starts the span of a request. Of the url it has only the origin. */
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

/** Ends the span with the outcome of its request. */
export function endDeliver(span: Span, { error, exchange }: Outcome): void {
  if (exchange?.response) span.setAttribute('http.response.status_code', exchange.response.status);
  endSpan(span, error?.code);
}
