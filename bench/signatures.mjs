// Signs and verifies with node:crypto alone, so that no code of the service checks itself.
import { createHmac } from 'node:crypto';

const hmac = (text, secret, encoding) => createHmac('sha256', secret).update(text).digest(encoding);

/** Returns the headers of a signed request, as the service writes them. */
export function signedHeaders({ body, secret, event, eventId, deliveryId }) {
  const timestamp = Math.floor(Date.now() / 1000);
  return {
    'content-type': 'application/json',
    'user-agent': 'webhook-notification-service/bench',
    'x-service-signature': hmac(body, secret, 'hex'),
    'x-service-event': event,
    'x-service-delivery': deliveryId,
    'x-service-attempt': '1',
    'x-service-trigger': 'event',
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${hmac(`${eventId}.${timestamp}.${body}`, secret, 'base64')}`,
  };
}

/** True when both signatures of a request are correct and its body contains the event that its header names. */
export function isGenuine({ headers, body }, secret) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp } = headers;
  return (
    headers['x-service-signature'] === hmac(body, secret, 'hex') &&
    headers['webhook-signature'] === `v1,${hmac(`${id}.${timestamp}.${body}`, secret, 'base64')}` &&
    JSON.parse(body).id === id
  );
}
