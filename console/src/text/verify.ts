import type { MistakeCode } from '../api/signature';

const MISTAKES: Record<MistakeCode, string> = {
  not_standard_form: 'webhook-signature is v1, followed by padded base64. This one has another form.',
  base64_for_hex: 'It is base64. x-service-signature is lowercase hexadecimal.',
  prefix_or_capitals: 'It has a prefix or capital letters. x-service-signature is 64 lowercase hexadecimal digits.',
  key_is_text: 'The key is the text of the secret. For webhook-signature, decode the part after whsec_ from base64.',
  key_is_decoded: 'The key is the decoded secret. For x-service-signature, use the secret as text, including whsec_.',
  key_after_whsec: 'The key is the text after whsec_, not decoded.',
  key_from_base64: 'The key is the secret decoded from base64. This secret is text: use its bytes.',
  key_without_edges: 'The secret that you entered has spaces, a line break or quotes around it. Remove them.',
  key_without_v1: 'The secret that you entered starts with v1, which does not belong to it. Remove it.',
  key_with_whsec: 'The secret that you entered lacks whsec_ at its start.',
  key_with_line_break: 'The key is the secret with a line break at its end. Trim a secret that you read from a file.',
  body_alone: 'It covers the body alone. webhook-signature covers id.timestamp.body.',
  without_id: 'It covers timestamp.body, without the id. webhook-signature covers id.timestamp.body.',
  with_id_and_time: 'It covers id.timestamp.body. x-service-signature covers the body alone.',
  keys_sorted: 'The body was parsed and serialized again, with sorted keys. Verify the bytes before parsing them.',
  read_as_latin1: 'The body was read as Latin-1 and written again as UTF-8. Verify its bytes, or read it as UTF-8.',
  written_as_latin1: 'The body was written again as Latin-1. It was sent as UTF-8: verify its bytes.',
  byte_order_mark: 'The body starts with a byte order mark, which was not sent.',
};

/** The texts of “Verify a signature”. */
export const VERIFY = {
  title: 'Verify a signature',
  link: 'Verify its signature',
  says: 'Paste a request from your receiver, and the secret of the webhook. This page says why the signature does not match.',
  fromDelivery:
    'The service sent these headers and this body. To compare, replace them with the request that your receiver got.',
  notSent: 'Nothing was sent for this delivery, so it has no signature. You can verify another request here.',
  back: 'Back to the delivery',
  insecure:
    'Browsers allow cryptography only on https and on localhost, so this page cannot verify here. Save the request, headers and body, as a file, and run this where the service is installed:',
  command: "WEBHOOK_SECRET='the secret' npx webhooks verify request.txt",
  insecureShort: 'Verifying needs https or localhost.',
  secret: 'Secret',
  secretSays: 'It stays in this page: never sent, never stored.',
  headers: 'Headers',
  headersSay: 'One “name: value” per line, or the raw HTTP request.',
  body: 'Body',
  bodySays: 'A text field changes CRLF to LF. Choose a file for exact bytes.',
  file: 'Body or whole request as a file',
  fileSays: 'You can also drop it here: the body, a raw HTTP request, or the JSON of a delivery.',
  fromFile: (name: string, bytes: string) => `${name}, ${bytes}, unchanged.`,
  edit: 'Edit as text',
  readRequest: 'Headers and body were read from the request.',
  readBody: 'The body was read from the file.',
  tooLarge: 'The file is larger than 1 MiB.',
  computed: 'Signature that your code computed (optional)',
  submit: 'Verify',
  busy: 'Verifying …',
  reset: 'Restore the sent request',
  errors: {
    secret: 'Enter the secret of the webhook.',
    headers: 'Paste the headers, at least x-service-signature or webhook-signature.',
    faulty: (line: string) => `This line is not “name: value”: ${line}`,
    body: 'Paste the body, or choose a file.',
  },
  answer: 'Result',
  waits: 'The result appears here.',
  verdicts: {
    valid: 'The signature is valid.',
    previous: 'The signature is valid, with the previous secret.',
    late: 'The signature is valid, but the request is too old.',
    early: 'The signature is valid, but the request is from the future.',
    untimed: 'The signature is valid, but no time is signed.',
    partly: 'x-service-signature is valid, webhook-signature is not.',
    invalid: 'The signature is not valid.',
    unsigned: 'There is no signature to verify.',
  },
  advice: {
    valid: 'The request is genuine: this secret signed this body.',
    previous: 'The secret was rotated. Use the new one before the old one expires.',
    late: (age: string) =>
      `It was signed ${age} ago; receivers accept at most 5 min. For a saved request that is expected. If it is new, set the clock of your receiver.`,
    early: (age: string) =>
      `It was signed ${age} ahead of your clock; receivers accept at most 5 min. Set the clock of your receiver.`,
    untimed:
      'webhook-id, webhook-timestamp and webhook-signature are missing. Without them anyone can repeat a captured request.',
    partly: 'webhook-signature also covers webhook-id and webhook-timestamp: one of these is missing or was changed.',
    invalid: null,
    unsigned: 'The headers contain neither x-service-signature nor webhook-signature.',
  },
  mistakes: MISTAKES,
  /** Of a header that the service wrote: the mistake is in the secret that was entered. */
  entered: {
    key_is_decoded:
      'You entered the secret as standardSecret, in base64. x-service-signature is made with the secret itself.',
  } as Partial<Record<MistakeCode, string>>,
  lineBreak: (end: 'LF' | 'CRLF') => `The body has a line break (${end}) at its end that was not sent.`,
  bodyForm: (signed: string, own: string) =>
    `The body was parsed and serialized again. The signature is for the body ${signed}; this one is ${own}. Verify the bytes before parsing them.`,
  cut: (left: number, whole: number) => `It is cut off: ${left} of ${whole} characters.`,
  previousOnly: 'Made with the previous secret during a rotation, not with the one that you entered.',
  computedIs: {
    right: (header: string) => `The signature that your code computed is the right one for ${header}.`,
    wrong: (header: string) => `The signature that your code computed is not the one of ${header}:`,
    unknown: 'The signature that your code computed is for another secret or another body.',
  },
  details: 'Findings',
  findings: {
    headerMissing: (header: string) =>
      `The header ${header} is missing: it was not copied, or a proxy or framework removed it.`,
    timeMalformed: 'webhook-timestamp is not a time in seconds since 1970.',
    bodyLength: (expected: string, actual: string) =>
      `The body was changed or cut: content-length says ${expected}, and there are ${actual}.`,
    bodyChanged:
      'The body was changed: it is not the compact JSON that the service sends. The secret may be wrong, too. Verify the bytes before parsing them.',
    secretDiffers:
      'The body looks unchanged, so the secret is probably wrong: of another webhook, or from before a rotation.',
    secretRight: 'The secret is right: it signed this delivery.',
    secretWrong:
      'The secret is wrong: it did not sign this delivery. It may be of another webhook, or from before a rotation.',
    bodyDiffers: 'The body differs from the sent body.',
    headersDiffer: 'The body equals the sent body, so the signature headers were changed.',
    mixed: (name: string, expected: string, actual: string) =>
      name === 'id'
        ? `Headers and body belong to different events: webhook-id is ${expected}, and the id in the body is ${actual}.`
        : `This is another delivery: ${name} is ${actual}; the service sent ${expected}.`,
  },
  valid: 'Valid',
  notValid: 'Not valid',
  otherSecret: 'Other secret',
  difference: {
    title: 'First difference',
    at: (byte: string, sent: string, received: string) =>
      `Byte ${byte} differs: ${sent} were sent, ${received} received.`,
    sent: 'Sent',
    received: 'Received',
    end: 'end',
    same: 'The body equals the sent body, byte for byte.',
  },
} as const;
