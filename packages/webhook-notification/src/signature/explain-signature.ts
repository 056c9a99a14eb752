import { diagnose, type Diagnosis } from './diagnose';
import { type ReceivedHeaders, valuesOf } from './headers';

export type { Diagnosis } from './diagnose';

export interface ExplainOptions {
  /** How old, or how far in the future, `webhook-timestamp` may be. Default: 300. */
  toleranceSeconds?: number;
  /** A signature that your own code has computed, to find out what it did. */
  computed?: string;
}

const SIGNED = [
  ...['x-service-signature', 'x-service-signature-previous'],
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature', 'content-length'],
];

/**
 * Says whether the signatures of a delivery match the secret, and why not: another secret, a body that was parsed and
 * written again, a wrong encoding, a header that was lost. For a terminal or a log of one's own. Never throws.
 * @param rawBody the bytes (or the text) as they came in
 */
export function explainSignature(
  rawBody: Uint8Array | string,
  headers: ReceivedHeaders,
  secret: string,
  { toleranceSeconds = 300, computed }: ExplainOptions = {},
): Diagnosis {
  const found = SIGNED.map((name) => [name, valuesOf(headers, name).join(', ')] as const);
  const request = {
    headers: Object.fromEntries(found.filter(([name]) => valuesOf(headers, name).length > 0)),
    body: Buffer.from(rawBody as Uint8Array),
  };
  return diagnose(request, { secret, toleranceSeconds, nowMs: Date.now(), computed });
}
