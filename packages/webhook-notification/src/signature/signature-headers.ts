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

/** The names of the signatures that are keyed with the text of a secret, under one prefix. */
export interface SignatureNames {
  signature: string;
  'signature-previous': string;
}

const OWN: readonly SignatureNames[] = [
  { signature: 'x-service-signature', 'signature-previous': 'x-service-signature-previous' },
];

const textOf = (secret: string | TextSecret): string => (typeof secret === 'string' ? secret : secret.text);

/**
 * Returns the headers with which a receiver verifies that a delivery is genuine.
 * @param eventId the id of the event, in all of its attempts
 * @param timestamp unix seconds of this attempt
 * @param names those of `HEADER_PREFIX` of the service; `x-service-signature` is always there
 */
export function signatureHeaders(
  body: string,
  eventId: string,
  timestamp: number,
  { current, previous }: SigningSecrets,
  names: readonly SignatureNames[] = OWN,
): Record<string, string> {
  // Standard Webhooks 1.0: one signature for each active secret, separated by spaces.
  const standard = [current, ...(previous === null ? [] : [previous])].map((secret) =>
    typeof secret === 'string'
      ? standardSignature(eventId, timestamp, body, secret)
      : signatureBy(secret.text, eventId, timestamp, body),
  );
  const signature = serviceSignature(body, textOf(current));
  const older = previous === null ? null : serviceSignature(body, textOf(previous));
  const headers: Record<string, string> = { 'x-service-signature': signature };
  for (const name of names) {
    headers[name.signature] = signature;
    if (older !== null) headers[name['signature-previous']] = older;
  }
  headers['webhook-id'] = eventId;
  headers['webhook-timestamp'] = String(timestamp);
  headers['webhook-signature'] = standard.join(' ');
  return headers;
}
