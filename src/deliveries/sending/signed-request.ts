import { signatureHeaders, type SigningSecrets } from 'webhook-notification';

/** The data that a request is built from. */
export interface Sendable {
  id: string;
  eventId: string;
  event: string;
  attempt: number;
  trigger: string;
  body: string;
  contentType: string;
  /** Whether the signature also goes in the headers of Svix. */
  withSvix: boolean;
  /** W3C Trace Context of this attempt; null when its event has no trace. */
  traceparent: string | null;
}

/** Headers and body that a receiver gets. */
export interface SignedRequest {
  headers: Record<string, string>;
  body: string;
}

/** Builds the signed request of one attempt. `at` is the time of this attempt, not of the event. */
export function prepare(delivery: Sendable, secrets: SigningSecrets, at: Date, version: string): SignedRequest {
  const { id, eventId, event, attempt, trigger, body, contentType, withSvix, traceparent } = delivery;
  const signature = signatureHeaders(body, eventId, Math.floor(at.getTime() / 1000), secrets);
  return {
    body,
    headers: {
      'content-type': contentType,
      'user-agent': `webhook-notification-service/${version}`,
      'x-service-event': event,
      'x-service-delivery': id,
      'x-service-attempt': String(attempt),
      'x-service-trigger': trigger,
      ...signature,
      ...(withSvix && svixHeaders(signature)),
      ...(traceparent !== null && { traceparent }),
    },
  };
}

/** Svix signs in the same way as Standard Webhooks, under names of its own. */
function svixHeaders(signature: Record<string, string>): Record<string, string> {
  const standard = Object.entries(signature).filter(([name]) => name.startsWith('webhook-'));
  return Object.fromEntries(standard.map(([name, value]) => [name.replace('webhook', 'svix'), value]));
}
