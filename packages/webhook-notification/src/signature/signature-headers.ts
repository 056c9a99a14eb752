import { serviceSignature, standardSignature } from './sign';

/** The secrets that sign a request: the webhook's own and, while a rotation overlaps, the previous one. */
export interface SigningSecrets {
  current: string;
  previous: string | null;
}

/**
 * The headers by which a receiver knows that a delivery is genuine.
 * @param eventId the id of the event, in all of its attempts
 * @param timestamp unix seconds of this attempt
 */
export function signatureHeaders(
  body: string,
  eventId: string,
  timestamp: number,
  { current, previous }: SigningSecrets,
): Record<string, string> {
  // Standard Webhooks 1.0: one signature for each secret in force, separated by spaces.
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
