import { randomBytes } from 'node:crypto';
import { Webhook } from 'svix';
import { signDelivery } from 'webhook-notification';
import { foundEndpoint, secretOf, type SvixDetails, type SvixEndpoint } from './svix-endpoint';

// The example of Svix's OpenAPI document.
const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const ENDPOINT: SvixEndpoint = {
  ...{ id: 'ep_1', uid: null, url: 'https://a.example/hooks', description: '', disabled: false },
  ...{ filterTypes: null, channels: null, rateLimit: null, metadata: {} },
};
const DETAILS: SvixDetails = { secret: SECRET, headers: {}, sensitive: [], isTransformed: false };

const found = (endpoint: Partial<SvixEndpoint>, details: Partial<SvixDetails> = {}) =>
  foundEndpoint('app_1', { ...ENDPOINT, ...endpoint }, { ...DETAILS, ...details }, new Map());

describe('An endpoint of Svix', () => {
  it('becomes a webhook with its id, not its uid, in the external id', () => {
    const endpoint = {
      ...{ uid: '-any.uid_', description: 'Staging', disabled: true, filterTypes: ['b.b', 'a.a'], rateLimit: 7 },
      metadata: { team: 'billing', 'a name': 'x' },
    };
    expect(found(endpoint, { headers: { 'x-key': 'k-1' }, sensitive: ['authorization'] })).toEqual({
      kind: 'webhook',
      webhook: {
        externalId: 'svix:app_1:ep_1',
        url: 'https://a.example/hooks',
        events: ['a.a', 'b.b'],
        secret: SECRET,
        description: 'Staging',
        metadata: { 'svix-uid': '-any.uid_', team: 'billing' },
        headers: { 'x-key': 'k-1' },
        hiddenHeaders: ['authorization'],
        maxPerSecond: 7,
        isDisabled: true,
        obstacles: [],
        notes: ['the label a name does not fit metadata, and is left out'],
      },
    });
  });

  it.each<[string, Partial<SvixEndpoint>, object]>([
    ['no filter types', { filterTypes: null }, { events: ['*'] }],
    ['no description', { description: '' }, { description: null }],
    ['a long description', { description: '🪝'.repeat(300) }, { description: '🪝'.repeat(256) }],
    ['no rate', { rateLimit: 0 }, { maxPerSecond: null }],
    ['a higher rate than the highest', { rateLimit: 65_535 }, { maxPerSecond: 1000 }],
    ['a long uid', { uid: 'u'.repeat(256) }, { metadata: {} }],
    ['channels', { channels: ['a', 'b'] }, { obstacles: [expect.stringContaining('channels a, b only')] }],
  ])('may have %s', (_, endpoint, webhook) => {
    expect(found(endpoint)).toMatchObject({ kind: 'webhook', webhook });
  });

  it('with a transformation needs a person', () => {
    expect(found({}, { isTransformed: true })).toMatchObject({
      webhook: { obstacles: [/transforms/].map((each) => expect.stringMatching(each)) },
    });
  });

  it.each<[string, Partial<SvixEndpoint>, Partial<SvixDetails>, RegExp]>([
    ['no possible id', { id: 'ep/1' }, {}, /external id/],
    ['51 event types', { filterTypes: Array.from({ length: 51 }, (_, i) => `a.b${i}`) }, {}, /51 event types/],
    ['a public key', {}, { secret: 'whpk_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' }, /secret/],
    ['a secret that is too long', {}, { secret: randomBytes(75).toString('base64') }, /secret/],
  ])('with %s is refused', (_, endpoint, details, reason) => {
    expect(found(endpoint, details)).toEqual({
      kind: 'refused',
      name: expect.stringMatching(/^svix:app_1:/) as string,
      reason: expect.stringMatching(reason) as string,
    });
  });
});

describe('A secret of Svix', () => {
  it.each([
    ['with its prefix', SECRET],
    ['without its prefix', SECRET.slice('whsec_'.length)],
    ['of 24 bytes', `whsec_${randomBytes(24).toString('base64')}`],
    ['of 64 bytes', `whsec_${randomBytes(64).toString('base64')}`],
    ['without padding', `whsec_${randomBytes(32).toString('base64').replace('=', '')}`],
  ])('%s signs so that receivers with it verify by the library of Svix', (_, key) => {
    const secret = secretOf(key);
    expect(secret).not.toBeNull();
    const { headers, body } = signDelivery({ event: 'follower.gained', data: {}, secret: secret! });
    const named = Object.entries(headers).map(([name, value]) => [name.replace('webhook-', 'svix-'), value]);
    const sent = Object.fromEntries(named) as Record<string, string>;
    expect(() => new Webhook(key).verify(body, sent)).not.toThrow();
    expect(() => new Webhook(key).verify(`${body} `, sent)).toThrow('signature');
  });

  it('with its prefix in canonical base64 stays as it is', () => {
    expect(secretOf(SECRET)).toBe(SECRET);
  });
});
