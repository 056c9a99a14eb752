import type { Finding, Findings, Mistake, ReceivedRequest, SignatureFinding } from '../../api/signature';

/** The answer in one word. */
export type Verdict = 'valid' | 'previous' | 'late' | 'early' | 'untimed' | 'partly' | 'invalid' | 'unsigned';

/** One header with signatures. */
export interface SignatureRow {
  header: string;
  isValid: boolean;
  /** Null when nothing explains it. */
  mistakes: readonly Mistake[] | null;
  cut: SignatureFinding['cut'];
}

const PREVIOUS = 'x-service-signature-previous';

const isSignature = (finding: Finding): finding is SignatureFinding => finding.code === 'signature';
const isMatch = ({ mistakes }: SignatureFinding): boolean => mistakes?.length === 0;

/** Returns one row for each header: valid when one of its values is. */
export function rowsOf({ findings }: Findings): SignatureRow[] {
  const byHeader = new Map<string, SignatureFinding[]>();
  for (const finding of findings.filter(isSignature)) {
    byHeader.set(finding.header, [...(byHeader.get(finding.header) ?? []), finding]);
  }
  return [...byHeader].map(([header, values]) => {
    const best = values.find(isMatch) ?? values.find(({ mistakes }) => mistakes !== null) ?? values[0];
    return { header, isValid: values.some(isMatch), mistakes: best?.mistakes ?? null, cut: best?.cut ?? null };
  });
}

/** Returns the answer to whether a receiver may believe the request. */
export function verdictOf(found: Findings): Verdict {
  const values = found.findings.filter(isSignature);
  if (values.length === 0) return 'unsigned';
  if (!values.some(isMatch)) return 'invalid';
  const time = found.findings.find(({ code }) => code === 'time_off');
  if (found.findings.some(({ code }) => code === 'time_unsigned')) return 'untimed';
  if (!values.some((value) => value.header === 'webhook-signature' && isMatch(value))) return 'partly';
  if (time?.code === 'time_off') return time.ageSeconds > 0 ? 'late' : 'early';
  return isByPrevious(values) ? 'previous' : 'valid';
}

/** During a rotation the current secret signs first. */
export function isByPrevious(values: readonly SignatureFinding[]): boolean {
  const matching = values.filter(isMatch).map(({ header }) => header);
  if (matching.includes(PREVIOUS)) return !matching.includes('x-service-signature');
  const standard = values.filter(({ header }) => header === 'webhook-signature');
  return !matching.includes('x-service-signature') && standard.findIndex(isMatch) > 0;
}

/** Returns whether the secret made at least one signature of the request. */
export const isSecretOf = ({ findings }: Findings): boolean => findings.filter(isSignature).some(isMatch);

/** A request that holds parts of two deliveries: the name that tells, with both values. */
export interface Mixed {
  name: string;
  expected: string;
  actual: string;
}

/** Returns how the headers tell that they belong to another delivery, or to another body; null when they do not. */
export function mixedIn({ headers, body }: ReceivedRequest, known: ReceivedRequest | null): Mixed | null {
  for (const name of ['webhook-id', 'x-service-delivery']) {
    const [expected, actual] = [known?.headers[name], headers[name]];
    if (expected !== undefined && actual !== undefined && expected !== actual) return { name, expected, actual };
  }
  const [expected, actual] = [headers['webhook-id'], idOf(body)];
  return expected !== undefined && actual !== undefined && expected !== actual
    ? { name: 'id', expected, actual }
    : null;
}

/** The id of the event in the body; undefined in formats that have none, also if their data has an id of its own. */
function idOf(body: Uint8Array): string | undefined {
  try {
    const { id, event, specversion, data } = JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>;
    const isEvent = typeof (event ?? specversion) === 'string' && data !== undefined;
    return isEvent && typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}
