import { mistakesIn, type ReceivedRequest } from './signature-search';
import type { SignatureScheme } from './verify';

/** Whether a recorded request is genuine, and why. */
export interface Diagnosis {
  /** True when the request and its time were signed with this secret (Standard Webhooks), and recently enough. */
  genuine: boolean;
  /** The findings, one sentence each, the most important first. */
  findings: string[];
}

export interface DiagnosisOptions {
  secret: string;
  toleranceSeconds: number;
  nowMs: number;
  /** A signature that the receiver's own code computed, to find its mistake. */
  computed?: string;
}

interface Signature {
  header: string;
  scheme: SignatureScheme;
  text: string;
}

/** Returns whether the signatures of a recorded request match the secret, and why not. Never throws. */
export function diagnose(request: ReceivedRequest, options: DiagnosisOptions): Diagnosis {
  const signatures = signaturesOf(request);
  const checked = signatures.map((signature) => ({
    ...signature,
    mistakes: mistakesIn(signature.text, signature.scheme, request, options.secret),
  }));
  const time = timeProblem(request, options);
  const right = checked.filter(({ mistakes }) => mistakes?.length === 0);
  const isRight = right.some(({ scheme }) => scheme === 'standard');
  const isExplained = checked.some(({ mistakes }) => mistakes !== null);
  return {
    genuine: isRight && time === null,
    findings: [
      ...checked.map(describe),
      ...missing(request, right.length > 0),
      ...(time === null ? [] : [time]),
      ...(signatures.length === 0 || isExplained ? [] : [suspect(request)]),
      ...(options.computed === undefined ? [] : [explainComputed(options.computed, request, options.secret)]),
    ],
  };
}

function signaturesOf({ headers }: ReceivedRequest): Signature[] {
  const service = ['x-service-signature', 'x-service-signature-previous']
    .filter((header) => headers[header] !== undefined)
    .map((header) => ({ header, scheme: 'service' as const, text: headers[header] ?? '' }));
  const standard = (headers['webhook-signature']?.split(/,?\s+/) ?? [])
    .filter((text) => text !== '')
    .map((text) => ({ header: 'webhook-signature', scheme: 'standard' as const, text }));
  return [...service, ...standard];
}

function describe({ header, scheme, text, mistakes }: Signature & { mistakes: string[] | null }): string {
  if (mistakes?.length === 0) return `${header} matches.`;
  if (mistakes) return `${header} does not match: ${mistakes.join(', and ')}.`;
  const { length } = text.replace(/^v1,/, '');
  const whole = scheme === 'service' ? 64 : 44;
  if (length < whole && /^(v1,)?[\w+/=-]*$/.test(text)) {
    return `${header} is cut off: ${length} of ${whole} characters are left.`;
  }
  return `${header} does not match.`;
}

const UNSIGNED_TIME =
  'The headers webhook-id, webhook-timestamp and webhook-signature are missing: without a signed time anybody can repeat this ' +
  'request, and verifySignature refuses it by default.';

function missing({ headers }: ReceivedRequest, isSigned: boolean): string[] {
  const isStandard = Object.keys(headers).some((name) => name.startsWith('webhook-'));
  if (!isStandard && isSigned) return [UNSIGNED_TIME];
  const wanted = isStandard ? ['webhook-id', 'webhook-timestamp', 'webhook-signature'] : ['x-service-signature'];
  const absent = wanted.filter((name) => headers[name] === undefined);
  return absent.map((name) => `The header ${name} is missing: it was not saved, or a proxy or framework took it away.`);
}

function timeProblem({ headers }: ReceivedRequest, { toleranceSeconds, nowMs }: DiagnosisOptions): string | null {
  const timestamp = headers['webhook-timestamp'];
  if (timestamp === undefined) return null;
  if (!/^\d{1,12}$/.test(timestamp)) return 'webhook-timestamp is not a time in unix seconds.';
  const ageSeconds = Math.round(nowMs / 1000 - Number(timestamp));
  if (Math.abs(ageSeconds) <= toleranceSeconds) return null;
  const direction = ageSeconds > 0 ? 'old' : 'in the future';
  return (
    `webhook-timestamp is ${Math.abs(ageSeconds)} s ${direction}, and ${toleranceSeconds} s are tolerated. ` +
    'For a request that was saved earlier that is to be expected: check the rest with --tolerance.'
  );
}

/** For a request whose signatures no usual mistake explains: the cause may be the body or the secret. */
function suspect({ headers, body }: ReceivedRequest): string {
  const length = headers['content-length'];
  if (length !== undefined && length !== String(body.length)) {
    return `The body is not the one that was sent: content-length says ${length} bytes, and there are ${body.length}.`;
  }
  if (!isAsSent(body)) {
    return 'The body is not the one that was sent (that is compact JSON), and no usual way of writing it again leads back to it; or the secret is another one as well.';
  }
  return 'The body looks untouched, so the secret is most likely another one: another webhook’s, or from before a rotation.';
}

function isAsSent(body: Buffer): boolean {
  try {
    return JSON.stringify(JSON.parse(body.toString('utf8'))) === body.toString('utf8');
  } catch {
    return false;
  }
}

function explainComputed(computed: string, request: ReceivedRequest, secret: string): string {
  const found = (['service', 'standard'] as const)
    .map((scheme) => ({ scheme, mistakes: mistakesIn(computed, scheme, request, secret) }))
    .filter(({ mistakes }) => mistakes !== null)
    .sort((a, b) => (a.mistakes?.length ?? 0) - (b.mistakes?.length ?? 0))[0];
  if (!found?.mistakes)
    return 'The computed signature comes from another secret or another body; no usual mistake leads to it.';
  const header = found.scheme === 'service' ? 'x-service-signature' : 'webhook-signature';
  if (found.mistakes.length === 0) return `The computed signature is the right one for ${header}.`;
  return `The computed signature is not that of ${header}: ${found.mistakes.join(', and ')}.`;
}
