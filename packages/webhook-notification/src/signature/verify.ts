import { createHmac, timingSafeEqual } from 'node:crypto';
import { verifyingKeys } from './standard-key';
import { type ReceivedHeaders, valuesOf } from './headers';
import type { ReceivedEvent } from './received-event';

export type SignatureScheme = 'standard' | 'service';

/** Why a request is rejected: a closed list, so that code can distinguish the failures. */
export type SignatureFailure =
  | 'body_not_raw'
  | 'header_missing'
  | 'header_malformed'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'no_match'
  | 'body_not_json';

/** A request is not genuine: `reason` is for code, `message` for people. Neither contains a secret or a signature. */
export class WebhookSignatureError extends Error {
  override readonly name = 'WebhookSignatureError';

  constructor(
    readonly reason: SignatureFailure,
    message: string,
  ) {
    super(message);
  }
}

/** The strictness of the verification, and the current time. */
export interface Rules {
  /** `any`: Standard Webhooks when one of its headers is present, otherwise `x-service-signature`. */
  scheme: SignatureScheme | 'any';
  toleranceSeconds: number;
  nowMs: number;
  /** Of the headers of the service. */
  headerPrefix: string;
}

/** `x-service-signature` is always sent, whatever the prefix. */
const serviceHeaders = (prefix: string): string[] => [
  ...new Set(['x-service-signature', `${prefix}-signature`, `${prefix}-signature-previous`]),
];
const STANDARD_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
/** Further signatures of a request are ignored. A rotation requires far fewer. */
const MAX_SIGNATURES = 32;

/**
 * Returns the parsed body of a request that was signed with one of the secrets. Compares in constant time.
 * @throws WebhookSignatureError for every error that a sender can cause
 */
export function verify(
  body: Uint8Array | string,
  headers: ReceivedHeaders,
  secrets: readonly string[],
  rules: Rules,
): ReceivedEvent {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    fail(
      'body_not_raw',
      'Pass the raw body as it came in, bytes or text: what was parsed cannot be verified any more.',
    );
  }
  if (schemeOf(headers, rules.scheme) === 'standard') verifyStandard(body, headers, secrets, rules);
  else verifyService(body, headers, secrets, rules);
  return parse(body);
}

function schemeOf(headers: ReceivedHeaders, scheme: Rules['scheme']): SignatureScheme {
  if (scheme !== 'any') return scheme;
  return STANDARD_HEADERS.some((name) => valuesOf(headers, name).length > 0) ? 'standard' : 'service';
}

/** Standard Webhooks 1.0: HMAC-SHA256 over `id.timestamp.body`. One valid signature of several is enough. */
function verifyStandard(
  body: Uint8Array | string,
  headers: ReceivedHeaders,
  secrets: readonly string[],
  { toleranceSeconds, nowMs }: Rules,
): void {
  const id = single(headers, 'webhook-id');
  const timestamp = single(headers, 'webhook-timestamp');
  const signatures = valuesOf(headers, 'webhook-signature').flatMap((value) => value.split(/,?\s+/));
  if (signatures.length === 0) missing('webhook-signature');
  if (!/^\d{1,12}$/.test(timestamp)) fail('header_malformed', 'webhook-timestamp is not a time in unix seconds.');
  const given = signatures.slice(0, MAX_SIGNATURES).flatMap(decodeStandard);
  if (given.length === 0) {
    fail('header_malformed', 'webhook-signature has no value of the form v1, and 44 characters of base64.');
  }
  const isSigned = secrets.flatMap(verifyingKeys).some((key) => {
    const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
    return isAnyOf(given, hmac);
  });
  if (!isSigned) fail('no_match', 'No signature matches: the secret is another one, or the body is not the one sent.');
  checkTime(Number(timestamp) - nowMs / 1000, toleranceSeconds);
}

/** `x-service-signature` and, during a rotation, the one with the previous secret. Neither signs a time. */
function verifyService(
  body: Uint8Array | string,
  headers: ReceivedHeaders,
  secrets: readonly string[],
  { headerPrefix }: Rules,
): void {
  const values = serviceHeaders(headerPrefix).flatMap((name) => valuesOf(headers, name));
  if (values.length === 0) missing('x-service-signature');
  const given = values.filter((value) => /^[0-9a-f]{64}$/.test(value)).slice(0, MAX_SIGNATURES);
  if (given.length === 0) fail('header_malformed', 'x-service-signature is not 64 lowercase hexadecimal digits.');
  const decoded = given.map((value) => Buffer.from(value, 'hex'));
  const isSigned = secrets.some((secret) => isAnyOf(decoded, createHmac('sha256', secret).update(body).digest()));
  if (!isSigned) fail('no_match', 'No signature matches: the secret is another one, or the body is not the one sent.');
}

/** The time is checked only after the signature, so "too old" always means a genuine request. */
function checkTime(aheadSeconds: number, toleranceSeconds: number): void {
  const text = `webhook-timestamp is ${Math.abs(Math.round(aheadSeconds))} s`;
  const rule = `more than the ${toleranceSeconds} s tolerated. Compare the clocks, or drop it as a replay.`;
  if (-aheadSeconds > toleranceSeconds) fail('timestamp_too_old', `${text} in the past, ${rule}`);
  if (aheadSeconds > toleranceSeconds) fail('timestamp_too_new', `${text} in the future, ${rule}`);
}

/** Compares with all of them, even after a match, so that the duration does not depend on which one matches. */
function isAnyOf(given: readonly Buffer[], expected: Buffer): boolean {
  return given.filter((candidate) => timingSafeEqual(candidate, expected)).length > 0;
}

function decodeStandard(value: string): Buffer[] {
  const [, base64 = ''] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(value) ?? [];
  return base64 === '' ? [] : [Buffer.from(base64, 'base64')];
}

function single(headers: ReceivedHeaders, name: string): string {
  const values = valuesOf(headers, name);
  const [value] = values;
  if (value === undefined) missing(name);
  if (values.length > 1) fail('header_malformed', `${name} came more than once.`);
  return value;
}

function parse(body: Uint8Array | string): ReceivedEvent {
  try {
    return JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString('utf8')) as ReceivedEvent;
  } catch {
    fail('body_not_json', 'The signature is right, but the body is not JSON.');
  }
}

function missing(name: string): never {
  fail('header_missing', `The header ${name} is missing. Check that no proxy or framework takes it away.`);
}

function fail(reason: SignatureFailure, message: string): never {
  throw new WebhookSignatureError(reason, message);
}
