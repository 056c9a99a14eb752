import { serviceSignature, standardSignature } from './sign';

/** The secrets that sign a request: the webhook's own and, during a rotation, the previous one. */
export interface SigningSecrets {
  current: string;
  previous: string | null;
}

/**
 * Returns the headers with which a receiver verifies that a delivery is genuine.
 * @param eventId the id of the event, in all of its attempts
 * @param timestamp unix seconds of this attempt
 */
export function signatureHeaders(
  body: string,
  eventId: string,
  timestamp: number,
  { current, previous }: SigningSecrets,
): Record<string, string> {
  // Standard Webhooks 1.0: one signature for each active secret, separated by spaces.
  const standard = [current, ...(previous === null ? [] : [previous])].map((secret) =>
    standardSignature(eventId, timestamp, body, secret),
  );
  return {
    'x-service-signature': serviceSignature(body, current),
    ...(previous !== null && { 'x-service-signature-previous': serviceSignature(body, previous) }),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.join(' '),
  };
}
