import { serviceSignature, signatureBy, standardSignature } from './sign';

/** The secrets that sign a request: the webhook's own and, during a rotation, the previous one. */
export interface SigningSecrets {
  current: string | TextSecret;
  previous: string | TextSecret | null;
}

/** A secret whose text is its key in every signature, also if it begins with `whsec_`. */
export interface TextSecret {
  text: string;
}

const textOf = (secret: string | TextSecret): string => (typeof secret === 'string' ? secret : secret.text);

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
    typeof secret === 'string'
      ? standardSignature(eventId, timestamp, body, secret)
      : signatureBy(secret.text, eventId, timestamp, body),
  );
  return {
    'x-service-signature': serviceSignature(body, textOf(current)),
    ...(previous !== null && { 'x-service-signature-previous': serviceSignature(body, textOf(previous)) }),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.join(' '),
  };
}
