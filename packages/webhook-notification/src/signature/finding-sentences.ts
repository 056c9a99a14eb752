import type { Finding, SignatureFinding } from './diagnosis';
import type { Mistake, MistakeCode } from './signature-search';

const MISTAKES: Record<MistakeCode, string> = {
  not_standard_form: 'it is not written as "v1," and padded base64',
  base64_for_hex: 'it is base64, and has to be lowercase hexadecimal',
  prefix_or_capitals: 'it has a prefix or capitals, and has to be 64 lowercase hexadecimal digits',
  key_is_text: 'it is keyed with the text of the secret; after whsec_ the key is base64',
  key_is_decoded:
    'it is keyed with the decoded bytes of the secret; x-service-signature is keyed with its text, whsec_ included',
  key_after_whsec: 'it is keyed with the text after whsec_',
  key_from_base64: 'it is keyed with the secret decoded as base64; this one is text',
  key_without_edges: 'it is keyed with the secret without the spaces, line break or quotes around it',
  key_without_v1: 'it is keyed with the secret without the v1, before it',
  key_with_whsec: 'it is keyed with the secret after whsec_, which is missing',
  key_with_line_break: 'it is keyed with the secret and a line break after it',
  body_alone: 'it is made over the body alone, without "id.timestamp." before it',
  without_id: 'it is made over "timestamp.body", without the id',
  with_id_and_time: 'it is made over "id.timestamp.body", not over the body',
  keys_sorted: 'the body that you have was parsed and written again with its keys sorted',
  read_as_latin1: 'the body that you have was read as Latin-1 and written again as UTF-8',
  written_as_latin1: 'the body that you have was written again as Latin-1; it was sent as UTF-8',
  byte_order_mark: 'the body that you have begins with a byte order mark, which was not sent',
};

const mistakeText = (mistake: Mistake): string =>
  mistake.code === 'body_form'
    ? `it is made over the body ${mistake.signed}; the one that you have is ${mistake.own}`
    : MISTAKES[mistake.code];

const textsOf = (mistakes: readonly Mistake[]): string => mistakes.map(mistakeText).join(', and ');

/** Returns the sentence for a finding. */
export function sentenceOf(finding: Finding): string {
  switch (finding.code) {
    case 'signature':
      return signatureSentence(finding);
    case 'time_unsigned':
      return (
        'The headers webhook-id, webhook-timestamp and webhook-signature are missing: without a signed time anybody can ' +
        'repeat this request, and verifySignature refuses it by default.'
      );
    case 'header_missing':
      return `The header ${finding.header} is missing: it was not saved, or a proxy or framework took it away.`;
    case 'time_malformed':
      return 'webhook-timestamp is not a time in unix seconds.';
    case 'time_off':
      return timeSentence(finding.ageSeconds, finding.toleranceSeconds);
    case 'body_length':
      return (
        `The body is not the one that was sent: content-length says ${finding.expected} bytes, and there are ` +
        `${finding.actual}.`
      );
    case 'body_changed':
      return (
        'The body is not the one that was sent (that is compact JSON), and no usual way of writing it again leads back to ' +
        'it; or the secret is another one as well.'
      );
    case 'secret_differs':
      return (
        'The body looks untouched, so the secret is most likely another one: another webhook’s, or from before a ' +
        'rotation.'
      );
    case 'computed':
      return computedSentence(finding.header, finding.mistakes);
  }
}

function signatureSentence({ header, mistakes, cut }: SignatureFinding): string {
  if (mistakes?.length === 0) return `${header} matches.`;
  if (mistakes) return `${header} does not match: ${textsOf(mistakes)}.`;
  return cut ? `${header} is cut off: ${cut.left} of ${cut.whole} characters are left.` : `${header} does not match.`;
}

function timeSentence(ageSeconds: number, toleranceSeconds: number): string {
  const direction = ageSeconds > 0 ? 'old' : 'in the future';
  return (
    `webhook-timestamp is ${Math.abs(ageSeconds)} s ${direction}, and ${toleranceSeconds} s are tolerated. ` +
    'For a request that was saved earlier that is to be expected: check the rest with --tolerance.'
  );
}

function computedSentence(header: string, mistakes: readonly Mistake[] | null): string {
  if (!mistakes) {
    return 'The computed signature comes from another secret or another body; no usual mistake leads to it.';
  }
  if (mistakes.length === 0) return `The computed signature is the right one for ${header}.`;
  return `The computed signature is not that of ${header}: ${textsOf(mistakes)}.`;
}
