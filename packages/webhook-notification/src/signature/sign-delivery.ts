import { randomUUID } from 'node:crypto';
import { eventBody } from '../events/event-body';
import type { EventName, EventPayloads } from '../events/payloads';
import { encodedSubject } from '../events/subject';
import type { ReceivedFormat } from './received-event';
import { signatureHeaders } from './signature-headers';

/** The properties of a delivery that a test can set. */
export interface DeliveryToSign<Name extends string, Data> {
  event: Name;
  data: Data;
  /** The webhook's secret. */
  secret: string;
  /** The previous secret, during a rotation. */
  previousSecret?: string;
  /** What the event is about. Default: none. */
  subject?: string | null;
  /** Id of the event: `webhook-id`. Default: a new one. */
  id?: string;
  /** When the event was published. Default: now. */
  createdAt?: Date;
  /** Time of this attempt: `webhook-timestamp`. Default: now. */
  at?: Date;
  /** Default: 1. */
  attempt?: number;
  /** The format of the webhook. Default: `native`. */
  format?: ReceivedFormat;
  /** The `HEADER_PREFIX` of the service. Default: `x-service`. */
  headerPrefix?: string;
  /** Default: `event`. */
  trigger?: 'event' | 'redelivery' | 'test';
}

/** A request as the service sends it, to post to a receiver. */
export interface SignedDelivery {
  headers: Record<string, string>;
  /** Post it unchanged. */
  body: string;
}

/** Signs a delivery like the service, for tests of a receiver. */
export function signDelivery<Name extends EventName>(
  delivery: DeliveryToSign<Name, EventPayloads[Name]>,
): SignedDelivery;
export function signDelivery(delivery: DeliveryToSign<string, object>): SignedDelivery;
export function signDelivery(delivery: DeliveryToSign<string, object>): SignedDelivery {
  const { event, secret, previousSecret = null, id = randomUUID(), attempt = 1, trigger = 'event' } = delivery;
  const { createdAt = new Date(), at = new Date(), subject = null, headerPrefix: prefix = 'x-service' } = delivery;
  const body = bodyOf(delivery, id, createdAt);
  const headers = {
    'content-type': 'application/json',
    [`${prefix}-event`]: event,
    [`${prefix}-delivery`]: randomUUID(),
    [`${prefix}-attempt`]: String(attempt),
    [`${prefix}-trigger`]: trigger,
    ...(subject !== null && { [`${prefix}-subject`]: encodedSubject(subject) }),
    ...signatureHeaders(body, id, Math.floor(at.getTime() / 1000), { current: secret, previous: previousSecret }, [
      { signature: `${prefix}-signature`, 'signature-previous': `${prefix}-signature-previous` },
    ]),
  };
  return { headers, body };
}

function bodyOf(delivery: DeliveryToSign<string, object>, id: string, createdAt: Date): string {
  const { format, event, data, subject } = delivery;
  if (format === 'payload') return JSON.stringify(data);
  if (format === 'standard') return JSON.stringify({ type: event, timestamp: createdAt, data });
  return eventBody(id, event, createdAt, JSON.stringify(data), subject);
}
