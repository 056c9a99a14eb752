import { diagnose, type Diagnosis } from './diagnose';
import { type ReceivedHeaders, valuesOf } from './headers';

export type { Diagnosis } from './diagnose';

export interface ExplainOptions {
  /** Maximum difference between `webhook-timestamp` and now, in both directions. Default: 300. */
  toleranceSeconds?: number;
  /** A signature that your own code computed, to find its mistake. */
  computed?: string;
  /** The `HEADER_PREFIX` of the service, if it has another one. Default: `x-service`. */
  headerPrefix?: string;
}

const SIGNED = [
  ...['x-service-signature', 'x-service-signature-previous'],
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature', 'content-length'],
];

/**
 * Explains whether the signatures of a delivery match the secret, and why not: another secret, a body that was parsed
 * and serialized again, a wrong encoding, a lost header. Use it in a terminal or for your own log. Never throws.
 * @param rawBody the bytes (or the text) as received
 */
export function explainSignature(
  rawBody: Uint8Array | string,
  headers: ReceivedHeaders,
  secret: string,
  { toleranceSeconds = 300, computed, headerPrefix = 'x-service' }: ExplainOptions = {},
): Diagnosis {
  const read = (name: string) => {
    const values = valuesOf(headers, name);
    return values.length > 0 ? values : valuesOf(headers, name.replace(/^x-service/, headerPrefix));
  };
  const found = SIGNED.map((name) => [name, read(name)] as const).filter(([, values]) => values.length > 0);
  const request = {
    headers: Object.fromEntries(found.map(([name, values]) => [name, values.join(', ')])),
    body: Buffer.from(rawBody as Uint8Array),
  };
  return diagnose(request, { secret, toleranceSeconds, nowMs: Date.now(), computed });
}
