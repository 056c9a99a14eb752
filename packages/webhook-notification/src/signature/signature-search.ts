import { createHmac } from 'node:crypto';
import { standardKey } from './sign';
import { type BodyForm, formsOf, unsorted } from './body-forms';
import type { SignatureScheme } from './verify';

/** A delivery as received. */
export interface ReceivedRequest {
  /** By lower-case name. The values of a repeated header are joined by ", ". */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** A way of signing. `said` is null for the correct way; otherwise it names the mistake. */
interface Way<T> {
  said: string | null;
  value: T;
}

/**
 * Determines how a signature was computed: the mistakes that lead to exactly this value; empty when it is correct. Null
 * when no usual mistake leads to it.
 */
export function mistakesIn(
  signature: string,
  scheme: SignatureScheme,
  request: ReceivedRequest,
  secret: string,
): string[] | null {
  const decoded = decode(signature, scheme);
  if (!decoded) return null;
  const bodies = bodiesOf(request.body);
  const frames = framesFor(scheme, request.headers);
  const hmac = (key: Buffer, [before, after]: Frame, body: Buffer | string) =>
    createHmac('sha256', key).update(before).update(body).update(after).digest();
  const ways = keysFor(scheme, secret).flatMap((key) =>
    frames.flatMap((frame) => bodies.map((body) => ({ key, frame, body }))),
  );
  const found = ways
    .map((way) => ({ ...way, said: [decoded.said, way.key.said, way.frame.said, way.body.said].filter(isSaid) }))
    .sort((a, b) => a.said.length - b.said.length)
    .find(({ key, frame, body }) => hmac(key.value, frame.value, body.value).equals(decoded.value));
  if (found) return found.said;
  const [key, frame] = [keysFor(scheme, secret)[0], frames[0]];
  for (const body of key && frame ? unsorted(request.body.toString('utf8')) : []) {
    if (!hmac(key!.value, frame!.value, body).equals(decoded.value)) continue;
    const sorted = 'the body that you have was parsed and written again with its keys sorted';
    return [decoded.said, sorted].filter(isSaid);
  }
  return null;
}

type Frame = [before: string, after: string];

const isSaid = (said: string | null): said is string => said !== null;

function decode(signature: string, scheme: SignatureScheme): Way<Buffer> | null {
  const [, prefix = '', text = ''] = /^(v1,|v1=|sha256=)?(.*)$/s.exec(signature.trim()) ?? [];
  const isHex = /^[0-9a-f]{64}$/i.test(text);
  const value = isHex ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (value.length !== 32 || (!isHex && !/^[A-Za-z0-9+/_-]{43}=?$/.test(text))) return null;
  if (scheme === 'standard') {
    const isRight = !isHex && prefix === 'v1,' && value.toString('base64') === text;
    return { value, said: isRight ? null : 'it is not written as "v1," and padded base64' };
  }
  if (!isHex) return { value, said: 'it is base64, and has to be lowercase hexadecimal' };
  const isRight = prefix === '' && text === text.toLowerCase();
  return { value, said: isRight ? null : 'it has a prefix or capitals, and has to be 64 lowercase hexadecimal digits' };
}

function keysFor(scheme: SignatureScheme, secret: string): Way<Buffer>[] {
  const isDecoded = standardKey(secret).compare(Buffer.from(secret)) !== 0;
  const withoutPrefix = secret.replace(/^whsec_/, '');
  const text = {
    value: Buffer.from(secret),
    said: 'it is keyed with the text of the secret; after whsec_ the key is base64',
  };
  const bytes = {
    value: standardKey(secret),
    said: 'it is keyed with the decoded bytes of the secret; x-service-signature is keyed with its text, whsec_ included',
  };
  const right = { ...(scheme === 'standard' ? bytes : text), said: null };
  const wrong = isDecoded ? [scheme === 'standard' ? text : bytes] : [];
  const bare = secret.trim().replace(/^(["'])(.*)\1$/, '$2');
  const keyOf = (other: string) => (scheme === 'standard' ? standardKey(other) : Buffer.from(other));
  return distinctKeys([
    right,
    ...wrong,
    { value: Buffer.from(withoutPrefix), said: 'it is keyed with the text after whsec_' },
    {
      value: Buffer.from(withoutPrefix, 'base64'),
      said: 'it is keyed with the secret decoded as base64; this one is text',
    },
    { value: keyOf(bare), said: 'it is keyed with the secret without the spaces, line break or quotes around it' },
    { value: keyOf(`${secret}\n`), said: 'it is keyed with the secret and a line break after it' },
  ]);
}

function distinctKeys(keys: Way<Buffer>[]): Way<Buffer>[] {
  return keys.filter(({ value }, i) => keys.findIndex((other) => other.value.equals(value)) === i);
}

/** Returns the texts that may surround the body in the signed content. */
function framesFor(scheme: SignatureScheme, headers: ReceivedRequest['headers']): Way<Frame>[] {
  const [id, timestamp] = [headers['webhook-id'], headers['webhook-timestamp']];
  const alone: Way<Frame> = {
    value: ['', ''],
    said: 'it is made over the body alone, without "id.timestamp." before it',
  };
  const timed: Way<Frame> = { value: [`${timestamp}.`, ''], said: 'it is made over "timestamp.body", without the id' };
  const full: Way<Frame> = {
    value: [`${id}.${timestamp}.`, ''],
    said: 'it is made over "id.timestamp.body", not over the body',
  };
  return scheme === 'standard' ? [{ ...full, said: null }, alone, timed] : [{ ...alone, said: null }, full, timed];
}

function bodiesOf(body: Buffer): Way<Buffer>[] {
  const text = body.toString('utf8');
  const forms = formsOf(text);
  const own = forms.find((form) => form.text === text)?.name ?? 'written in another way';
  const said = ({ name }: BodyForm) => `it is made over the body ${name}; the one that you have is ${own}`;
  const others = forms.filter((form) => form.text !== text);
  return [{ value: body, said: null }, ...others.map((form) => ({ value: Buffer.from(form.text), said: said(form) }))];
}
