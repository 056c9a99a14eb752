import { areEqual, bytesOf, fromBase64, fromHex, textOf, toBase64 } from './bytes';
import { type BodyForm, formsOf, unsorted } from './body-forms';
import { beforeReadAsLatin1, beforeWrittenAsLatin1, withoutMark } from './charset';
import { isDecoded, keyOfSecret } from './standard-key';

/** A delivery as received. */
export interface ReceivedRequest {
  /** By lower-case name. The values of a repeated header are joined by ", ". */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}

/** A signature that the search needs: HMAC-SHA256 over the parts, one after the other. */
export interface Hmac {
  key: Uint8Array;
  parts: readonly Uint8Array[];
}

/** A computation that asks for signatures, because Node computes them at once and a browser later. */
export type Search<T> = Generator<Hmac, T, Uint8Array>;

/** One mistake in the computation of a signature. */
export type Mistake = { code: MistakeCode } | { code: 'body_form'; signed: string; own: string };

export type MistakeCode =
  | 'not_standard_form'
  | 'base64_for_hex'
  | 'prefix_or_capitals'
  | 'key_is_text'
  | 'key_is_decoded'
  | 'key_after_whsec'
  | 'key_from_base64'
  | 'key_without_edges'
  | 'key_without_v1'
  | 'key_with_whsec'
  | 'key_with_line_break'
  | 'body_alone'
  | 'without_id'
  | 'with_id_and_time'
  | 'keys_sorted'
  | 'read_as_latin1'
  | 'written_as_latin1'
  | 'byte_order_mark';

/** `standard`: `webhook-signature`. `service`: `x-service-signature`. */
export type Scheme = 'standard' | 'service';

/** A way of signing. `mistake` is null for the correct way. */
interface Way<T> {
  mistake: Mistake | null;
  value: T;
}

/**
 * Determines how a signature was computed: the mistakes that lead to exactly this value; empty when it is correct. Null
 * when no usual mistake leads to it.
 */
export function* mistakesIn(
  signature: string,
  scheme: Scheme,
  { headers, body }: ReceivedRequest,
  secret: string,
): Search<Mistake[] | null> {
  const decoded = decode(signature, scheme);
  if (!decoded) return null;
  const bodies = bodiesOf(body);
  const frames = framesFor(scheme, headers);
  const keys = keysFor(scheme, secret);
  const ways = keys
    .flatMap((key) => frames.flatMap((frame) => bodies.map((each) => ({ key, frame, body: each }))))
    .map((way) => ({ way, mistakes: mistakesOf(decoded, way.key, way.frame, way.body) }))
    .sort((a, b) => a.mistakes.length - b.mistakes.length);
  for (const { way, mistakes } of ways) {
    const digest = yield { key: way.key.value, parts: [way.frame.value, way.body.value] };
    if (areEqual(digest, decoded.value)) return mistakes;
  }
  const [key, frame] = [keys[0], frames[0]];
  for (const each of key && frame ? unsorted(textOf(body)) : []) {
    const digest = yield { key: key!.value, parts: [frame!.value, bytesOf(each)] };
    if (areEqual(digest, decoded.value)) return [...mistakesOf(decoded), { code: 'keys_sorted' }];
  }
  return null;
}

const mistakesOf = (...ways: Way<unknown>[]): Mistake[] =>
  ways.flatMap(({ mistake }) => (mistake === null ? [] : [mistake]));

function decode(signature: string, scheme: Scheme): Way<Uint8Array> | null {
  const [, prefix = '', text = ''] = /^(v1,|v1=|sha256=)?(.*)$/s.exec(signature.trim()) ?? [];
  const isHex = /^[0-9a-f]{64}$/i.test(text);
  if (!isHex && !/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return null;
  const value = isHex ? fromHex(text) : fromBase64(text);
  if (scheme === 'standard') {
    const isRight = !isHex && prefix === 'v1,' && toBase64(value) === text;
    return { value, mistake: isRight ? null : { code: 'not_standard_form' } };
  }
  if (!isHex) return { value, mistake: { code: 'base64_for_hex' } };
  const isRight = prefix === '' && text === text.toLowerCase();
  return { value, mistake: isRight ? null : { code: 'prefix_or_capitals' } };
}

function keysFor(scheme: Scheme, secret: string): Way<Uint8Array>[] {
  const withoutPrefix = secret.replace(/^whsec_/, '');
  const bare = secret.trim().replace(/^(["'])(.*)\1$/, '$2');
  const keyOf = (other: string) => (scheme === 'standard' ? keyOfSecret(other) : bytesOf(other));
  const otherWay: Way<Uint8Array> =
    scheme === 'standard'
      ? { value: bytesOf(secret), mistake: { code: 'key_is_text' } }
      : { value: keyOfSecret(secret), mistake: { code: 'key_is_decoded' } };
  return distinctKeys([
    { value: keyOf(secret), mistake: null },
    ...(isDecoded(secret) ? [otherWay] : []),
    { value: bytesOf(withoutPrefix), mistake: { code: 'key_after_whsec' } },
    { value: keyOf(`whsec_${secret}`), mistake: { code: 'key_with_whsec' } },
    { value: fromBase64(withoutPrefix), mistake: { code: 'key_from_base64' } },
    { value: keyOf(bare), mistake: { code: 'key_without_edges' } },
    { value: keyOf(bare.replace(/^v1,/, '')), mistake: { code: 'key_without_v1' } },
    { value: keyOf(`${secret}\n`), mistake: { code: 'key_with_line_break' } },
  ]);
}

const distinctKeys = (keys: Way<Uint8Array>[]): Way<Uint8Array>[] =>
  keys.filter(({ value }, i) => keys.findIndex((other) => areEqual(other.value, value)) === i);

/** Returns the texts that may precede the body in the signed content. */
function framesFor(scheme: Scheme, headers: ReceivedRequest['headers']): Way<Uint8Array>[] {
  const [id, timestamp] = [headers['webhook-id'], headers['webhook-timestamp']];
  const alone: Way<Uint8Array> = { value: bytesOf(''), mistake: { code: 'body_alone' } };
  const timed: Way<Uint8Array> = { value: bytesOf(`${timestamp}.`), mistake: { code: 'without_id' } };
  const full: Way<Uint8Array> = { value: bytesOf(`${id}.${timestamp}.`), mistake: { code: 'with_id_and_time' } };
  return scheme === 'standard'
    ? [{ ...full, mistake: null }, alone, timed]
    : [{ ...alone, mistake: null }, full, timed];
}

function bodiesOf(body: Uint8Array): Way<Uint8Array>[] {
  const text = textOf(body);
  const forms = formsOf(text);
  const own = forms.find((form) => form.text === text)?.name ?? 'written in another way';
  const wayOf = ({ name, text: signed }: BodyForm): Way<Uint8Array> => ({
    value: bytesOf(signed),
    mistake: { code: 'body_form', signed: name, own },
  });
  const others = [
    ['read_as_latin1', beforeReadAsLatin1(body)],
    ['written_as_latin1', beforeWrittenAsLatin1(body)],
    ['byte_order_mark', withoutMark(body)],
  ] as const;
  return [
    { value: body, mistake: null },
    ...forms.filter((form) => form.text !== text).map(wayOf),
    ...others.flatMap(([code, value]) => (value ? [{ value, mistake: { code } }] : [])),
  ];
}
