import { areEqual, bytesOf, textOf } from './bytes';
import { type Mistake, mistakesIn, type ReceivedRequest, type Scheme, type Search } from './signature-search';

/** A fact about a recorded request, without words for it. */
export type Finding =
  | SignatureFinding
  /** Only `x-service-signature` is there, which signs no time. */
  | { code: 'time_unsigned' }
  | { code: 'header_missing'; header: string }
  | { code: 'time_malformed' }
  /** `ageSeconds` is negative for a time in the future. */
  | { code: 'time_off'; ageSeconds: number; toleranceSeconds: number }
  | { code: 'body_length'; expected: string; actual: number }
  | { code: 'body_changed' }
  | { code: 'secret_differs' }
  /** The signature that the receiver's own code computed, compared with that of the nearest header. */
  | { code: 'computed'; header: string; mistakes: readonly Mistake[] | null };

/** One value of a signature header. `mistakes`: empty when it matches, null when nothing explains it. */
export interface SignatureFinding {
  code: 'signature';
  header: string;
  mistakes: readonly Mistake[] | null;
  /** The remaining characters of a truncated signature, and the length of a whole one. */
  cut: { left: number; whole: number } | null;
}

export interface DiagnosisOptions {
  secret: string;
  toleranceSeconds: number;
  nowMs: number;
  /** A signature that the receiver's own code computed, to find its mistake. */
  computed?: string;
}

/** The facts about a recorded request. */
export interface Findings {
  /** True when the request and its time were signed with this secret (Standard Webhooks), and recently enough. */
  genuine: boolean;
  /** The most important first. */
  findings: Finding[];
}

interface Signature {
  header: string;
  scheme: Scheme;
  text: string;
}

/** Determines whether the signatures of a recorded request match the secret, and why not. Never throws. */
export function* findingsOf(request: ReceivedRequest, options: DiagnosisOptions): Search<Findings> {
  const signatures = signaturesOf(request);
  const checked: (SignatureFinding & { scheme: Scheme })[] = [];
  for (const { header, scheme, text } of signatures) {
    const mistakes = yield* mistakesIn(text, scheme, request, options.secret);
    checked.push({ code: 'signature', header, scheme, mistakes, cut: mistakes ? null : cutOf(text, scheme) });
  }
  const time = timeProblem(request, options);
  const right = checked.filter(({ mistakes }) => mistakes?.length === 0);
  const isExplained = checked.some(({ mistakes }) => mistakes !== null);
  const findings: Finding[] = [
    ...checked.map(({ code, header, mistakes, cut }) => ({ code, header, mistakes, cut })),
    ...missing(request, right.length > 0),
    ...(time === null ? [] : [time]),
    ...(signatures.length === 0 || isExplained ? [] : [suspect(request)]),
  ];
  if (options.computed !== undefined) findings.push(yield* computedFinding(options.computed, request, options.secret));
  return { genuine: right.some(({ scheme }) => scheme === 'standard') && time === null, findings };
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

function cutOf(text: string, scheme: Scheme): SignatureFinding['cut'] {
  const { length } = text.replace(/^v1,/, '');
  const whole = scheme === 'service' ? 64 : 44;
  return length < whole && /^(v1,)?[\w+/=-]*$/.test(text) ? { left: length, whole } : null;
}

function missing({ headers }: ReceivedRequest, isSigned: boolean): Finding[] {
  const isStandard = Object.keys(headers).some((name) => name.startsWith('webhook-'));
  if (!isStandard && isSigned) return [{ code: 'time_unsigned' }];
  const wanted = isStandard ? ['webhook-id', 'webhook-timestamp', 'webhook-signature'] : ['x-service-signature'];
  return wanted
    .filter((name) => headers[name] === undefined)
    .map((header) => ({ code: 'header_missing' as const, header }));
}

function timeProblem({ headers }: ReceivedRequest, { toleranceSeconds, nowMs }: DiagnosisOptions): Finding | null {
  const timestamp = headers['webhook-timestamp'];
  if (timestamp === undefined) return null;
  if (!/^\d{1,12}$/.test(timestamp)) return { code: 'time_malformed' };
  const ageSeconds = Math.round(nowMs / 1000 - Number(timestamp));
  return Math.abs(ageSeconds) <= toleranceSeconds ? null : { code: 'time_off', ageSeconds, toleranceSeconds };
}

/** For a request whose signatures no usual mistake explains: the cause may be the body or the secret. */
function suspect({ headers, body }: ReceivedRequest): Finding {
  const length = headers['content-length'];
  if (length !== undefined && length !== String(body.length)) {
    return { code: 'body_length', expected: length, actual: body.length };
  }
  return { code: isAsSent(body) ? 'secret_differs' : 'body_changed' };
}

function isAsSent(body: Uint8Array): boolean {
  try {
    return areEqual(bytesOf(JSON.stringify(JSON.parse(textOf(body)))), body);
  } catch {
    return false;
  }
}

function* computedFinding(computed: string, request: ReceivedRequest, secret: string): Search<Finding> {
  const [service, standard] = [
    yield* mistakesIn(computed, 'service', request, secret),
    yield* mistakesIn(computed, 'standard', request, secret),
  ];
  const isStandard = standard !== null && (service === null || standard.length < service.length);
  return {
    code: 'computed',
    header: isStandard ? 'webhook-signature' : 'x-service-signature',
    mistakes: isStandard ? standard : service,
  };
}
