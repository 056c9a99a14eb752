import { Check, CircleAlert, type LucideIcon, Minus, ShieldQuestionMark, X } from 'lucide-preact';
import type { Finding, Findings, Mistake, ReceivedRequest } from '../../api/signature';
import { Pill, type Tone } from '../../parts/pill';
import { plainOf } from '../../parts/plain';
import { lengthOf } from '../../parts/time';
import { TEXT } from '../../text/en';
import { isSecretOf, mixedIn, rowsOf, type SignatureRow, type Verdict, verdictOf } from './verdict';

const { verify } = TEXT;

/** What was verified, and the outcome. */
export interface Verified {
  request: ReceivedRequest;
  found: Findings;
  /** The request as the service sent it, with the same secret; null when the page does not know it. */
  sent: { request: ReceivedRequest; found: Findings; isSameBody: boolean } | null;
}

const TONES: Record<Verdict, [Tone, LucideIcon]> = {
  valid: ['good', Check],
  previous: ['good', Check],
  late: ['wait', CircleAlert],
  early: ['wait', CircleAlert],
  untimed: ['wait', CircleAlert],
  partly: ['bad', X],
  invalid: ['bad', X],
  unsigned: ['calm', ShieldQuestionMark],
};

/** The verdict, then the causes, then each signature. */
export function Answer({ verified }: { verified: Verified }) {
  const { found } = verified;
  const verdict = verdictOf(found);
  const [tone, Mark] = TONES[verdict];
  const advice = adviceOf(verdict, found);
  const causes = causesOf(verified, verdict);
  const isByCurrent = rowsOf(found).some(({ header, isValid }) => isValid && header !== PREVIOUS);
  return (
    <>
      <div class={`verdict ${tone}`}>
        <Mark class="icon" size={20} strokeWidth={2} aria-hidden="true" />
        <div>
          <p class="says">{verify.verdicts[verdict]}</p>
          {advice && <p>{advice}</p>}
        </div>
      </div>
      {causes.length > 0 && (
        <section aria-labelledby="details">
          <h2 id="details">{verify.details}</h2>
          <ul class="causes">
            {causes.map((cause) => (
              <li key={cause}>{plainOf(cause)}</li>
            ))}
          </ul>
        </section>
      )}
      <ul class="plain signatures">
        {rowsOf(found).map((row) => (
          <Row
            key={row.header}
            row={row}
            isOther={row.header === PREVIOUS && isByCurrent}
            isTold={(text) => causes.includes(text)}
          />
        ))}
      </ul>
    </>
  );
}

const PREVIOUS = 'x-service-signature-previous';

function Row({ row, isOther, isTold }: { row: SignatureRow; isOther: boolean; isTold: (text: string) => boolean }) {
  const { header, isValid, cut } = row;
  const notes = [
    ...(cut ? [verify.cut(cut.left, cut.whole)] : []),
    ...(isOther ? [verify.previousOnly] : rowTexts(row).filter((text) => !isTold(text))),
  ];
  const [tone, icon, word] = isValid
    ? (['good', Check, verify.valid] as const)
    : isOther
      ? (['calm', Minus, verify.otherSecret] as const)
      : (['bad', X, verify.notValid] as const);
  return (
    <li>
      <code>{header}</code>
      <Pill tone={tone} icon={icon}>
        {word}
      </Pill>
      {!isValid && notes.length > 0 && <p class="muted small">{notes.join(' ')}</p>}
    </li>
  );
}

const rowTexts = ({ mistakes }: SignatureRow): string[] =>
  (mistakes ?? []).map((mistake) => mistakeText(mistake, true));

function adviceOf(verdict: Verdict, { findings }: Findings): string | null {
  const time = findings.find(({ code }) => code === 'time_off');
  const age = time?.code === 'time_off' ? lengthOf(Math.abs(time.ageSeconds) * 1000) : '';
  return verdict === 'late' || verdict === 'early' ? verify.advice[verdict](age) : verify.advice[verdict];
}

/** The causes, the most certain first, each once. */
function causesOf({ request, found, sent }: Verified, verdict: Verdict): string[] {
  const mixed = mixedIn(request, sent?.request ?? null);
  const shared = verdict === 'invalid' ? sharedTexts(rowsOf(found)) : [];
  const isWrong = verdict === 'invalid' || verdict === 'partly';
  return [
    ...(mixed ? [verify.findings.mixed(mixed.name, mixed.expected, mixed.actual)] : []),
    ...(isWrong && sent ? comparisonOf(sent, shared.length > 0) : []),
    ...shared,
    ...found.findings.flatMap((finding) => textsOf(finding, sent !== null)),
  ];
}

/** What explains every signature that anything explains. */
function sharedTexts(rows: readonly SignatureRow[]): string[] {
  const [first = [], ...others] = rows.map(rowTexts).filter((texts) => texts.length > 0);
  return first.filter((text) => others.every((texts) => texts.includes(text)));
}

/** What follows from the request as it was sent: it tells whether the secret is right. */
function comparisonOf({ found, isSameBody }: NonNullable<Verified['sent']>, isExplained: boolean): string[] {
  const { secretRight, secretWrong, bodyDiffers, headersDiffer } = verify.findings;
  const body = isSameBody || isExplained ? [] : [bodyDiffers];
  if (isSecretOf(found)) return [secretRight, ...(isSameBody && !isExplained ? [headersDiffer] : body)];
  const isSecretExplained = rowsOf(found).some(({ mistakes }) => mistakes !== null);
  return [...(isSecretExplained ? [] : [secretWrong]), ...body];
}

/** Guesses are left out where the request as it was sent is known. */
function textsOf(finding: Finding, isSentKnown: boolean): string[] {
  const { findings } = verify;
  switch (finding.code) {
    case 'header_missing':
      return [findings.headerMissing(finding.header)];
    case 'time_malformed':
      return [findings.timeMalformed];
    case 'body_length':
      return [findings.bodyLength(finding.expected, TEXT.delivery.bytes(finding.actual))];
    case 'body_changed':
      return isSentKnown ? [] : [findings.bodyChanged];
    case 'secret_differs':
      return isSentKnown ? [] : [findings.secretDiffers];
    case 'computed':
      return computedTexts(finding.header, finding.mistakes);
    default:
      return [];
  }
}

function computedTexts(header: string, mistakes: readonly Mistake[] | null): string[] {
  if (mistakes === null) return [verify.computedIs.unknown];
  if (mistakes.length === 0) return [verify.computedIs.right(header)];
  return [[verify.computedIs.wrong(header), ...mistakes.map((mistake) => mistakeText(mistake, false))].join(' ')];
}

/** `isSigned`: the service made the signature, and not the receiver's code. */
function mistakeText(mistake: Mistake, isSigned: boolean): string {
  if (mistake.code !== 'body_form') {
    return (isSigned ? verify.entered[mistake.code] : undefined) ?? verify.mistakes[mistake.code];
  }
  const { signed, own } = mistake;
  if (own === `${signed}, and a line break at the end`) return verify.lineBreak('LF');
  if (own === `${signed}, and a CRLF at the end`) return verify.lineBreak('CRLF');
  return verify.bodyForm(signed, own);
}
