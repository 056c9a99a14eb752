import { createHmac } from 'node:crypto';
import { serviceSignature, standardSignature } from './sign';
import { diagnose } from './diagnose';

const SECRET = 'correct horse battery staple';
const WHSEC = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const NOW = 1_768_469_400;
const EVENT = {
  id: 'evt_1',
  event: 'follower.gained',
  createdAt: '2026-01-15T09:30:00.000Z',
  data: {
    accountId: 'a/b',
    follower: { username: 'Ada Ölçer', id: '17', 10: 'x' },
    followersCount: 42,
    zeros: [1, 0.5],
  },
};
const BODY = JSON.stringify(EVENT);

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text);
const headersOf = (secret: string, more: Record<string, string | undefined> = {}) =>
  Object.fromEntries(
    Object.entries({
      'content-length': undefined,
      'x-service-signature': serviceSignature(BODY, secret),
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(NOW),
      'webhook-signature': standardSignature('evt_1', NOW, BODY, secret),
      ...more,
    }).filter(([, value]) => value !== undefined),
  ) as Record<string, string>;
const look = (body: string, headers = headersOf(SECRET), more: object = {}) => {
  const options = { secret: SECRET, toleranceSeconds: 300, nowMs: NOW * 1000, ...more };
  const { genuine, findings } = diagnose({ headers, body: Buffer.from(body) }, options);
  return `${genuine ? 'genuine' : 'not'}: ${findings.join(' ')}`;
};

describe('The diagnosis', () => {
  it.each([SECRET, WHSEC, 'şifre-✓-密码'])(
    'of an unchanged request with the secret %p is that it is genuine',
    (secret) => {
      const said = look(BODY, headersOf(secret), { secret });
      expect(said).toBe('genuine: x-service-signature matches. webhook-signature matches.');
    },
  );

  it('recognizes the previous secret while a rotation overlaps', () => {
    const [before, now] = [headersOf(SECRET), headersOf('the new one')];
    const headers = headersOf('the new one', {
      'x-service-signature-previous': before['x-service-signature'],
      'webhook-signature': `${now['webhook-signature']} ${before['webhook-signature']}`,
    });
    expect(look(BODY, headers)).toMatch(/^genuine: .*x-service-signature-previous matches\./);
  });

  const sort = (value: unknown): unknown =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([k, v]) => [k, sort(v)]),
        );
  const python = BODY.replaceAll('":', '": ').replaceAll(/,(?="|0)/g, ', ');
  const ascii = (text: string) => text.replaceAll('Ö', '\\u00d6').replaceAll('ç', '\\u00e7');

  it.each([
    ['pretty-printed with 2 spaces', JSON.stringify(EVENT, null, 2)],
    ['pretty-printed with 4 spaces', JSON.stringify(EVENT, null, 4)],
    ['pretty-printed with tabs', JSON.stringify(EVENT, null, '\t')],
    ['with CRLF as line breaks', JSON.stringify(EVENT, null, 2).replaceAll('\n', '\r\n')],
    ['a line break at the end', `${BODY}\n`],
    ['a CRLF at the end', `${BODY}\r\n`],
    ["Python's json.dumps writes it with ensure_ascii=False", python],
    ["as Python's json.dumps writes it", ascii(python)],
    ['non-ASCII characters escaped', ascii(BODY)],
    ['slashes escaped, as PHP', ascii(BODY).replaceAll('/', '\\/')],
    ['with its keys sorted', JSON.stringify(sort(EVENT))],
  ])('names the change of the body: %s', (form, body) => {
    expect(body).not.toBe(BODY);
    const said = look(body);
    expect(said).toMatch(/^not: x-service-signature does not match: .* webhook-signature does not match: /);
    expect(said.split('webhook-signature')[0]).toContain(form);
  });

  it.each([
    ['is cut off: 40 of 64', { 'x-service-signature': serviceSignature(BODY, SECRET).slice(0, 40) }],
    ['webhook-signature is cut off: 10 of 44', { 'webhook-signature': 'v1,abcdefghij' }],
    ['it is base64, and has to be', { 'x-service-signature': hmac(SECRET, BODY).digest('base64') }],
    ['has a prefix or capitals', { 'x-service-signature': `sha256=${serviceSignature(BODY, SECRET)}` }],
    ['not over the body', { 'x-service-signature': hmac(SECRET, `evt_1.${NOW}.${BODY}`).digest('hex') }],
    ['over the body alone', { 'webhook-signature': `v1,${hmac(SECRET, BODY).digest('base64')}` }],
    [
      '"timestamp.body", without the id',
      { 'webhook-signature': `v1,${hmac(SECRET, `${NOW}.${BODY}`).digest('base64')}` },
    ],
    ['not written as "v1,"', { 'webhook-signature': hmac(SECRET, `evt_1.${NOW}.${BODY}`).digest('hex') }],
    ['The header webhook-id is missing', { 'webhook-id': undefined }],
    ['The header webhook-signature is missing', { 'webhook-signature': undefined }],
  ])('says "%s"', (message, more) => {
    expect(look(BODY, headersOf(SECRET, more))).toContain(message);
  });

  it('reports a missing signature', () => {
    expect(look(BODY, {})).toBe(
      'not: The header x-service-signature is missing: it was not saved, or a proxy or framework took it away.',
    );
  });

  it.each([
    [
      { 'x-service-signature': hmac(Buffer.from(WHSEC.slice(6), 'base64'), BODY).digest('hex') },
      'with the decoded bytes',
    ],
    [
      { 'webhook-signature': `v1,${hmac(WHSEC, `evt_1.${NOW}.${BODY}`).digest('base64')}` },
      'with the text of the secret; after whsec_ the key is base64',
    ],
    [{ 'x-service-signature': hmac(WHSEC.slice(6), BODY).digest('hex') }, 'with the text after whsec_'],
  ])('explains how a whsec_ secret was used wrongly: %#', (more, message) => {
    expect(look(BODY, headersOf(WHSEC, more), { secret: WHSEC })).toContain(message);
  });

  it('detects whitespace and quotes around the secret', () => {
    for (const secret of [`${SECRET}\n`, ` ${SECRET}`, `"${SECRET}"`]) {
      expect(look(BODY, headersOf(SECRET), { secret })).toMatch(/^not: .*without the spaces, line break or quotes/);
    }
  });

  it.each([
    ['read as Latin-1', Buffer.from(Buffer.from(BODY).toString('latin1'))],
    ['written again as Latin-1', Buffer.from(BODY, 'latin1')],
    ['begins with a byte order mark', Buffer.from(`\ufeff${BODY}`)],
  ])('names the change of the charset: %s', (message, body) => {
    const { findings } = diagnose(
      { headers: headersOf(SECRET), body },
      { secret: SECRET, toleranceSeconds: 300, nowMs: NOW * 1000 },
    );
    expect(findings[0]).toContain(message);
    expect(findings[1]).toContain(message);
  });

  it.each([
    ['without the v1, before it', `v1,${WHSEC}`],
    ['after whsec_, which is missing', WHSEC.slice('whsec_'.length)],
  ])('explains a secret that was copied wrongly: %s', (message, secret) => {
    const said = look(BODY, headersOf(WHSEC), { secret });
    expect(said.split(message)).toHaveLength(3);
  });

  it('suspects the secret when the body looks unchanged, and the body otherwise', () => {
    expect(look(BODY, headersOf('another'))).toMatch(/the secret is most likely another one/);
    expect(look(BODY.slice(0, -9), headersOf(SECRET, { 'content-length': String(BODY.length) }))).toMatch(
      /content-length says \d+ bytes, and there are \d+/,
    );
    expect(look('{"id": "else"}')).toMatch(/The body is not the one that was sent/);
  });

  it('rejects a request whose time is not signed with it', () => {
    const unsigned = { 'webhook-id': undefined, 'webhook-timestamp': undefined, 'webhook-signature': undefined };
    expect(look(BODY, headersOf(SECRET, unsigned))).toBe(
      'not: x-service-signature matches. The headers webhook-id, webhook-timestamp and webhook-signature are missing: without ' +
        'a signed time anybody can repeat this request, and verifySignature refuses it by default.',
    );
    const later = { 'webhook-timestamp': String(NOW + 3600) };
    const repeated = look(BODY, headersOf(SECRET, later), { nowMs: (NOW + 3600) * 1000 });
    expect(repeated).toMatch(/^not: x-service-signature matches\. webhook-signature does not match\./);
  });

  it('detects an old request that is otherwise valid', () => {
    const said = look(BODY, headersOf(SECRET), { nowMs: (NOW + 3600) * 1000 });
    expect(said).toMatch(
      /^not: x-service-signature matches\. webhook-signature matches\. webhook-timestamp is 3600 s old/,
    );
    expect(look(BODY, headersOf(SECRET), { nowMs: (NOW - 3600) * 1000 })).toMatch(/3600 s in the future/);
  });

  it.each([
    [serviceSignature(BODY, SECRET), 'is the right one for x-service-signature'],
    [standardSignature('evt_1', NOW, BODY, SECRET), 'is the right one for webhook-signature'],
    [hmac(SECRET, BODY).digest('base64'), 'it is base64'],
    [serviceSignature(JSON.stringify(EVENT, null, 2), SECRET), 'over the body pretty-printed with 2 spaces'],
    [serviceSignature(`${BODY}\n`, SECRET), 'a line break at the end'],
    [serviceSignature(BODY, 'another'), 'comes from another secret or another body'],
    ['rubbish', 'comes from another secret'],
  ])('explains the signature that the receiver computed: %#', (computed, message) => {
    expect(look(BODY, headersOf(SECRET), { computed })).toContain(message);
  });
});
