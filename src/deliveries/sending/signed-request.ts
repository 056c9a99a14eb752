import type { PreparedRequest } from '../../plumbing/destinations/http-result';
import { serviceSignature, standardSignature } from './sign';

/** What a request is built from. */
export interface Sendable {
  id: string;
  eventId: string;
  event: string;
  attempt: number;
  trigger: string;
  body: string;
  url: string;
  /** W3C Trace Context of this attempt; null when its event belongs to no trace. */
  traceparent: string | null;
}

/** The secrets that sign a request: the webhook's own and, while a rotation overlaps, the previous one. */
export interface SigningSecrets {
  current: string;
  previous: string | null;
}

/** The signed request of one attempt. `at` is the time of this attempt, not of the event. */
export function prepare(delivery: Sendable, secrets: SigningSecrets, at: Date, version: string): PreparedRequest {
  const { id, eventId, event, attempt, trigger, body, url, traceparent } = delivery;
  const { current, previous } = secrets;
  const timestamp = Math.floor(at.getTime() / 1000);
  // Standard Webhooks 1.0: one signature for each secret in force, separated by spaces.
  const standard = [current, ...(previous === null ? [] : [previous])].map((secret) =>
    standardSignature(eventId, timestamp, body, secret),
  );
  return {
    url,
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': `webhook-notification-service/${version}`,
      'x-service-signature': serviceSignature(body, current),
      ...(previous !== null && { 'x-service-signature-previous': serviceSignature(body, previous) }),
      'x-service-event': event,
      'x-service-delivery': id,
      'x-service-attempt': String(attempt),
      'x-service-trigger': trigger,
      'webhook-id': eventId,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': standard.join(' '),
      ...(traceparent !== null && { traceparent }),
    },
  };
}
