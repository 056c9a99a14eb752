import type { PreparedRequest } from '../destinations/http-result';
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
}

/** The signed request of one attempt. `at` is the instant of this attempt, not of the event. */
export function prepare(delivery: Sendable, secret: string, at: Date, version: string): PreparedRequest {
  const { id, eventId, event, attempt, trigger, body, url } = delivery;
  const timestamp = Math.floor(at.getTime() / 1000);
  return {
    url,
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': `webhook-notification-service/${version}`,
      'x-service-signature': serviceSignature(body, secret),
      'x-service-event': event,
      'x-service-delivery': id,
      'x-service-attempt': String(attempt),
      'x-service-trigger': trigger,
      'webhook-id': eventId,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': standardSignature(eventId, timestamp, body, secret),
    },
  };
}
