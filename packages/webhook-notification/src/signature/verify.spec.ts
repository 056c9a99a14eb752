import fc from 'fast-check';
import { serviceSignature, standardSignature } from './sign';
import { type Rules, verify, WebhookSignatureError } from './verify';

const SECRET = 'correct horse battery staple';
const WHSEC = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const NOW = 1_768_469_400;
const BODY = '{"id":"evt_1","event":"job.started","createdAt":"2026-01-15T09:30:00.000Z","data":{"é":1}}';
const RULES: Rules = { scheme: 'any', toleranceSeconds: 300, nowMs: NOW * 1000, headerPrefix: 'x-service' };

const service = (body = BODY, secret = SECRET) => ({ 'x-service-signature': serviceSignature(body, secret) });
const standard = (body = BODY, secret = SECRET, at = NOW) => ({
  'webhook-id': 'evt_1',
  'webhook-timestamp': String(at),
  'webhook-signature': standardSignature('evt_1', at, body, secret),
});
/** Returns the reason of the rejection, or the id of the accepted event. */
function outcome(
  headers: unknown,
  body: unknown = BODY,
  secrets: string | string[] = SECRET,
  rules: object = {},
): string {
  try {
    return verify(body as string, headers as never, [secrets].flat(), { ...RULES, ...rules }).id;
  } catch (error) {
    if (error instanceof WebhookSignatureError) return error.reason;
    throw error;
  }
}

describe('A genuine request', () => {
  it('is accepted by either scheme, as text and as bytes', () => {
    for (const headers of [service(), standard(), { ...service(), ...standard() }]) {
      expect([outcome(headers), outcome(headers, Buffer.from(BODY))]).toEqual(['evt_1', 'evt_1']);
      expect(outcome(headers, new Uint8Array(Buffer.from(BODY)))).toBe('evt_1');
      expect(outcome(new Headers(headers as Record<string, string>))).toBe('evt_1');
    }
  });

  it('is accepted with a whsec_ secret by either scheme', () => {
    expect(outcome(service(BODY, WHSEC), BODY, WHSEC)).toBe('evt_1');
    expect(outcome(standard(BODY, WHSEC), BODY, WHSEC)).toBe('evt_1');
  });

  it('is accepted during a rotation with the previous secret, the new one, or both', () => {
    const [before, now] = ['the secret before', 'the secret now'];
    const value = [now, before].map((secret) => standard(BODY, secret)['webhook-signature']).join(' ');
    const byStandard = { ...standard(), 'webhook-signature': value };
    const byService = { ...service(BODY, now), 'x-service-signature-previous': serviceSignature(BODY, before) };
    for (const headers of [byStandard, byService]) {
      for (const secrets of [before, now, [before, now], ['another', before]]) {
        expect(outcome(headers, BODY, secrets)).toBe('evt_1');
      }
      expect(outcome(headers, BODY, 'another')).toBe('no_match');
    }
  });

  it('is accepted by a signature under the prefix of the service, or under the one that is always there', () => {
    const before = 'the secret before';
    const headers = {
      'x-acme-signature': serviceSignature(BODY, SECRET),
      'x-acme-signature-previous': serviceSignature(BODY, before),
    };
    const rules = { headerPrefix: 'x-acme' };
    expect([outcome(headers, BODY, SECRET, rules), outcome(headers, BODY, before, rules)]).toEqual(['evt_1', 'evt_1']);
    expect([outcome(service(), BODY, SECRET, rules), outcome(headers)]).toEqual(['evt_1', 'header_missing']);
  });

  it('is accepted when several signatures arrive as several headers', () => {
    const { 'webhook-signature': good } = standard();
    const { 'webhook-signature': bad } = standard(BODY, 'another');
    for (const value of [[bad, good], `${bad}, ${good}`, `${bad}  ${good} v2,future v1a,x`]) {
      expect(outcome({ ...standard(), 'webhook-signature': value })).toBe('evt_1');
    }
  });

  it('is accepted with any body, and rejected with one byte changed', () => {
    const bodies = fc.json().map((data) => `{"id":"evt_1","data":${data}}`);
    fc.assert(
      fc.property(bodies, fc.nat(), (body, at) => {
        const changed = Buffer.from(body);
        changed[at % changed.length]! ^= 1;
        for (const headers of [service(body), standard(body)]) {
          expect(outcome(headers, body)).toBe('evt_1');
          expect(outcome(headers, changed)).toBe('no_match');
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('A request', () => {
  it.each([
    ['without signatures', {}, 'header_missing'],
    ['without webhook-id', { ...standard(), 'webhook-id': undefined }, 'header_missing'],
    ['without webhook-timestamp', { ...standard(), 'webhook-timestamp': undefined }, 'header_missing'],
    ['without webhook-signature', { ...standard(), 'webhook-signature': undefined }, 'header_missing'],
    ['with two ids', { ...standard(), 'webhook-id': ['evt_1', 'evt_2'] }, 'header_malformed'],
    ['with another id', { ...standard(), 'webhook-id': 'evt_2' }, 'no_match'],
    ['with another time', { ...standard(), 'webhook-timestamp': String(NOW + 1) }, 'no_match'],
    ['with an invalid time', { ...standard(), 'webhook-timestamp': '1e9' }, 'header_malformed'],
    ['with an empty signature', { ...standard(), 'webhook-signature': '' }, 'header_malformed'],
    ['with a truncated signature', { ...standard(), 'webhook-signature': 'v1,abc' }, 'header_malformed'],
    ['with another version', { ...standard(), 'webhook-signature': 'v1a,abc v2,abc' }, 'header_malformed'],
    ['with a truncated service signature', { 'x-service-signature': 'abc' }, 'header_malformed'],
    ['with a service signature in base64', { 'x-service-signature': 'q83vEjRWeJA=' }, 'header_malformed'],
    ['signed with another secret', service(BODY, 'another'), 'no_match'],
    ['with a wrong standard signature and a right service one', { ...standard(BODY, 'x'), ...service() }, 'no_match'],
    ['300 s old', standard(BODY, SECRET, NOW - 300), 'evt_1'],
    ['301 s old', standard(BODY, SECRET, NOW - 301), 'timestamp_too_old'],
    ['301 s in the future', standard(BODY, SECRET, NOW + 301), 'timestamp_too_new'],
    ['forged, and old', standard(BODY, 'another', NOW - 301), 'no_match'],
  ])('%s: %#', (_, headers, expected) => {
    expect(outcome(headers)).toBe(expected);
  });

  it('is verified by a single scheme when one is set', () => {
    expect(outcome(service(), BODY, SECRET, { scheme: 'standard' })).toBe('header_missing');
    expect(outcome({ ...standard(BODY, 'x'), ...service() }, BODY, SECRET, { scheme: 'service' })).toBe('evt_1');
  });

  it('is rejected when its body was parsed or is not JSON', () => {
    expect(outcome(standard(), JSON.parse(BODY))).toBe('body_not_raw');
    expect(outcome(standard('text'), 'text')).toBe('body_not_json');
  });

  it('with random contents is rejected with a reason', () => {
    const values = fc.oneof(fc.string(), fc.array(fc.string()), fc.constant(undefined), fc.integer());
    const names = fc.constantFrom('webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-service-signature');
    fc.assert(
      fc.property(fc.dictionary(names, values), fc.anything(), (headers, body) => {
        expect(outcome(headers, body)).toMatch(/^(body_not_raw|header_missing|header_malformed|no_match)$/);
      }),
      { numRuns: 500 },
    );
  });

  it('is rejected with an error that contains neither the secret nor a signature', () => {
    const [{ 'x-service-signature': right }, wrong] = [service(), service(BODY, 'another')];
    expect(() => verify(BODY, wrong, [SECRET], RULES)).toThrow(WebhookSignatureError);
    try {
      verify(BODY, wrong, [SECRET], RULES);
    } catch (error) {
      expect(String((error as Error).stack)).not.toContain(right);
      expect(String((error as Error).stack)).not.toContain(SECRET);
    }
  });
});
