import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import {
  serviceSignature,
  standardKey,
  standardSignature,
} from '../../../../packages/webhook-notification/src/signature/sign';
import { eventBody } from 'webhook-notification';
import { MAX_DEPTH, serialiseData } from 'webhook-notification/catalogue';

const COUNT = 1000;
const LARGEST = 1_048_576;
const AT = new Date();
const SECONDS = Math.floor(AT.getTime() / 1000);
const ID = '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90';

const deep = (levels: number): object => (levels === 1 ? { end: '' } : { a: deep(levels - 1) });
const SPECIAL = [
  {},
  { '': '' },
  { text: '\u0000\u0001\u001f\u007f\u2028\u2029' },
  { lone: '\ud800', reversed: '\udc00\ud800', '\udfff': 1 },
  { emoji: '👩‍👩‍👧‍👦', script: 'şifre пароль 密码 كلمة', combining: 'e\u0301' },
  deep(MAX_DEPTH),
  { numbers: [-0, 1e15, 5e-324, 0.1 + 0.2, Number.MAX_SAFE_INTEGER] },
  { __proto__: null, constructor: 1, toJSON: 'no function' },
  { filler: 'x'.repeat(LARGEST - '{"filler":""}'.length) },
];
const SECRETS = ['correct horse battery staple', 'пароль 🔑 şifre', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'];

/** Returns a thousand bodies as publish creates them, from values that JSON can represent. */
function bodies(): string[] {
  const values = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary', maxDepth: 8 }));
  const exactOf = (_: string, value: unknown) =>
    Number.isSafeInteger(Math.trunc(Number(value))) ? value : String(value);
  const exact = values.map((value) => {
    const json = JSON.stringify(value, (name, each: unknown) =>
      typeof each === 'number' ? exactOf(name, each) : each,
    );
    return JSON.parse(json) as object;
  });
  const data = [...SPECIAL, ...fc.sample(exact, { numRuns: COUNT - SPECIAL.length, seed: 42 })];
  return data.map((value) => {
    const verdict = serialiseData(value);
    if (!verdict.ok) throw new Error(verdict.problem);
    return eventBody(ID, 'a.b', AT, verdict.text);
  });
}

describe('The signatures of a thousand payloads', () => {
  const all = bodies().map((body, i) => ({ body, secret: SECRETS[i % SECRETS.length] ?? '' }));
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'wns-signatures-'));
    for (const [i, { body }] of all.entries()) {
      writeFileSync(join(folder, `${i}.body`), body);
      writeFileSync(join(folder, `${i}.signed`), `${ID}.${SECONDS}.${body}`);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Returns the HMAC that openssl computes for each file, with one process for all files of a key. */
  function openssl(file: 'body' | 'signed', keyOf: (secret: string) => Buffer): string[] {
    const made = SECRETS.flatMap((secret) => {
      const files = all.flatMap((one, i) => (one.secret === secret ? [`${i}.${file}`] : []));
      const key = `hexkey:${keyOf(secret).toString('hex')}`;
      const options = { cwd: folder, encoding: 'utf8' } as const;
      const output = execFileSync('openssl', ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', key, ...files], options);
      return [...output.matchAll(/\((\d+)\.\w+\)= ([0-9a-f]{64})$/gm)];
    });
    return made.sort((a, b) => Number(a[1]) - Number(b[1])).map(([, , hex]) => String(hex));
  }

  it('cover more than 900 different payloads, up to the largest', () => {
    expect(new Set(all.map(({ body }) => body)).size).toBeGreaterThan(COUNT * 0.9);
    expect(Math.max(...all.map(({ body }) => body.length))).toBeGreaterThan(LARGEST);
    for (const { body } of all) expect(JSON.stringify(JSON.parse(body))).toBe(body);
  });

  it('in x-service-signature match openssl', () => {
    expect(openssl('body', Buffer.from)).toEqual(all.map(({ body, secret }) => serviceSignature(body, secret)));
  });

  it('in webhook-signature match openssl', () => {
    const ours = all.map(({ body, secret }) => standardSignature(ID, SECONDS, body, secret));
    const theirs = openssl('signed', standardKey).map((hex) => `v1,${Buffer.from(hex, 'hex').toString('base64')}`);
    expect(theirs).toEqual(ours);
  });

  it('in webhook-signature are accepted by the standardwebhooks library', () => {
    for (const { body, secret } of all) {
      const receiver = secret.startsWith('whsec_')
        ? new Webhook(secret)
        : new Webhook(Buffer.from(secret), { format: 'raw' });
      const headers = {
        'webhook-id': ID,
        'webhook-timestamp': String(SECONDS),
        'webhook-signature': standardSignature(ID, SECONDS, body, secret),
      };
      expect(receiver.verify(body, headers)).toEqual(JSON.parse(body));
    }
  });
});
