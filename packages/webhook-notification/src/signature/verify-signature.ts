import type { ReceivedHeaders } from './headers';
import { type ReceivedEvent, receivedEvent, type ReceivedFormat, type ReceivedPayload } from './received-event';
import { type Rules, verify } from './verify';

export type { ReceivedHeaders } from './headers';
export type { ReceivedEvent, ReceivedFormat, ReceivedPayload } from './received-event';
export { type SignatureFailure, type SignatureScheme, WebhookSignatureError } from './verify';

/** Covers the clock difference and the transmission time of a request. */
const TOLERANCE_SECONDS = 300;

/** The strictness of the verification. */
export interface VerifyOptions {
  /** Maximum difference between `webhook-timestamp` and now, in both directions. Finite, at least 0. Default: 300. */
  toleranceSeconds?: number;
  /**
   * `standard` (the default): Standard Webhooks, which rejects requests without a signed time. `service`:
   * `x-service-signature` alone. `any`: Standard Webhooks when one of its headers is present, otherwise
   * `x-service-signature`. An attacker who captures a request can replay it forever under `service` and `any`, because
   * `x-service-signature` signs no time.
   */
  scheme?: Rules['scheme'];
  /**
   * The format of the webhook. Default: `native`, which returns the parsed body, as for formats that are not listed. `payload` and
   * `standard` require the scheme `standard`, because only that signs the id, which their bodies do not have.
   */
  format?: ReceivedFormat;
  /** The `HEADER_PREFIX` of the service, if it has another one. Default: `x-service`. */
  headerPrefix?: string;
}

/**
 * Verifies a delivery and returns its event.
 * @param rawBody the bytes (or the text) as received, before any parsing
 * @param secret the webhook's secret, or several during a rotation
 * @throws WebhookSignatureError, with a `reason`, for every request that is not genuine
 * @throws TypeError when there is no secret, for a tolerance that is not a finite number of at least 0, and for a format that requires
 * another scheme
 */
export function verifySignature(
  rawBody: Uint8Array | string,
  headers: ReceivedHeaders,
  secret: string | readonly string[],
  options: VerifyOptions & { format: 'payload' },
): ReceivedPayload;
export function verifySignature(
  rawBody: Uint8Array | string,
  headers: ReceivedHeaders,
  secret: string | readonly string[],
  options?: VerifyOptions & { format?: 'native' | 'standard' },
): ReceivedEvent;
export function verifySignature(
  rawBody: Uint8Array | string,
  headers: ReceivedHeaders,
  secret: string | readonly string[],
  options?: VerifyOptions,
): ReceivedEvent | ReceivedPayload;
export function verifySignature(
  rawBody: Uint8Array | string,
  headers: ReceivedHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): ReceivedEvent | ReceivedPayload {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (!Array.isArray(secrets) || secrets.length === 0 || !secrets.every(isSecret)) {
    throw new TypeError('verifySignature needs the secret of the webhook, or a list of secrets.');
  }
  checkOptions(options);
  const { toleranceSeconds = TOLERANCE_SECONDS, scheme = 'standard', format = 'native' } = options;
  const { headerPrefix = 'x-service' } = options;
  const rules = { scheme, toleranceSeconds, nowMs: Date.now(), headerPrefix };
  const body: unknown = verify(rawBody, headers, secrets, rules);
  return receivedEvent(format, body, headers, headerPrefix);
}

/** @throws TypeError as `verifySignature` */
export function checkOptions({ toleranceSeconds, scheme = 'standard', format = 'native' }: VerifyOptions): void {
  if (toleranceSeconds !== undefined) checkTolerance(toleranceSeconds);
  if (!FORMATS.includes(format)) throw new TypeError(`format must be one of ${FORMATS.join(', ')}.`);
  if (format !== 'native' && scheme !== 'standard')
    throw new TypeError(`The format ${format} requires the scheme standard, which signs the id of an event.`);
}

const FORMATS: readonly ReceivedFormat[] = ['native', 'payload', 'standard'];

/** @throws TypeError for NaN, which `Number()` returns for an unset variable: no time is older than that */
function checkTolerance(toleranceSeconds: unknown): void {
  if (Number.isFinite(toleranceSeconds) && (toleranceSeconds as number) >= 0) return;
  throw new TypeError('toleranceSeconds must be a finite number of at least 0.');
}

/** False for an empty text: with an empty key anyone could sign. */
const isSecret = (secret: unknown): boolean => typeof secret === 'string' && secret !== '';
