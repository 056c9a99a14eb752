import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { headerNames } from '../../infrastructure/config/header-prefixes';
import { prepare } from './request-signer.service';

const SECRET = 'correct horse battery staple';
const ONLY = { current: SECRET, previous: null };
const BRANDING = {
  names: [headerNames('x-service')],
  userAgent: 'webhook-notification-service/1.2.3',
  withSvix: false,
};
const delivery = {
  id: '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90',
  eventId: '0199c3a4-6f6e-7c52-9d5a-000000000001',
  event: 'follower.gained',
  attempt: 2,
  trigger: 'redelivery',
  body: '{"id":"0199c3a4-6f6e-7c52-9d5a-000000000001","event":"follower.gained","data":{"name":"Zoë"}}',
  contentType: 'application/json',
  subject: null,
  traceparent: null,
};

describe('A prepared request', () => {
  it('has the expected headers and body', () => {
    expect(prepare(delivery, ONLY, new Date('2026-01-15T09:30:00.999Z'), BRANDING)).toEqual({
      body: delivery.body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'webhook-notification-service/1.2.3',
        'x-service-signature': expect.stringMatching(/^[0-9a-f]{64}$/),
        'x-service-event': 'follower.gained',
        'x-service-delivery': delivery.id,
        'x-service-attempt': '2',
        'x-service-trigger': 'redelivery',
        'webhook-id': delivery.eventId,
        'webhook-timestamp': '1768469400',
        'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
      },
    });
  });

  it('carries a subject when there is one, percent-encoded', () => {
    const { headers } = prepare({ ...delivery, subject: `invoice/7 é*` }, ONLY, new Date(), BRANDING);
    expect(headers).toMatchObject({ 'x-service-subject': 'invoice%2F7%20%C3%A9%2A' });
    expect(prepare(delivery, ONLY, new Date(), BRANDING).headers).not.toHaveProperty('x-service-subject');
  });

  it('carries each header under each prefix, and its own signature always', () => {
    const names = ['x-acme', 'acme'].map(headerNames);
    const both = { current: SECRET, previous: 'an older secret' };
    const { headers } = prepare(delivery, both, new Date(0), { ...BRANDING, names, userAgent: 'Acme/1' });
    const signature = headers['x-service-signature'];
    const previous = createHmac('sha256', 'an older secret').update(delivery.body).digest('hex');
    expect(Object.keys(headers)).toHaveLength(2 + 2 * 6 + 1 + 3);
    expect(headers).toMatchObject({
      ...{ 'user-agent': 'Acme/1', 'x-acme-event': 'follower.gained', 'acme-event': 'follower.gained' },
      ...{ 'x-acme-delivery': delivery.id, 'acme-attempt': '2', 'x-acme-trigger': 'redelivery' },
      ...{ 'x-acme-signature': signature, 'acme-signature': signature, 'webhook-id': delivery.eventId },
      ...{ 'x-acme-signature-previous': previous, 'acme-signature-previous': previous },
    });
  });

  it('carries a traceparent when there is one', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const { headers } = prepare({ ...delivery, traceparent }, ONLY, new Date(), BRANDING);
    expect(headers).toMatchObject({ traceparent });
  });

  it('carries signatures that a receiver can verify', () => {
    const { headers, body } = prepare(delivery, ONLY, new Date(), BRANDING);
    const computed = createHmac('sha256', SECRET)
      .update(JSON.stringify(JSON.parse(body)))
      .digest('hex');
    expect(headers['x-service-signature']).toBe(computed);
    const receiver = new Webhook(Buffer.from(SECRET), { format: 'raw' });
    expect(receiver.verify(body, headers)).toEqual(JSON.parse(delivery.body));
  });

  it('is signed again for each attempt, over the same body', () => {
    const [first, second] = [0, 1000].map((ms) => prepare(delivery, ONLY, new Date(ms), BRANDING));
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['x-service-signature']).toBe(first?.headers['x-service-signature']);
    expect(second?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature']);
  });

  it('carries the signatures of both secrets while a rotation overlaps', () => {
    const generated = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const { headers, body } = prepare(delivery, { current: generated, previous: SECRET }, new Date(), BRANDING);
    expect(headers['x-service-signature']).toBe(createHmac('sha256', generated).update(body).digest('hex'));
    expect(headers['x-service-signature-previous']).toBe(createHmac('sha256', SECRET).update(body).digest('hex'));
    const receivers = [new Webhook(generated), new Webhook(Buffer.from(SECRET), { format: 'raw' })];
    for (const receiver of receivers) expect(receiver.verify(body, headers)).toEqual(JSON.parse(delivery.body));
    expect(() => new Webhook(Buffer.from('another'), { format: 'raw' }).verify(body, headers)).toThrow();
  });

  it('also has the headers of Svix, with the signatures of both secrets, if these are wanted', () => {
    const [generated, previous] = [7, 8].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`);
    const secrets = { current: generated!, previous: previous! };
    const { headers, body } = prepare(delivery, secrets, new Date(), { ...BRANDING, withSvix: true });
    const svix = Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('svix-'))) as Record<
      string,
      string
    >;
    expect(Object.keys(svix)).toEqual(['svix-id', 'svix-timestamp', 'svix-signature']);
    for (const secret of [generated!, previous!])
      expect(() => new SvixWebhook(secret).verify(body, svix)).not.toThrow();
    expect(() => new SvixWebhook(generated!).verify(`${body} `, svix)).toThrow();
  });

  it('never contains the secret', () => {
    expect(
      JSON.stringify(
        prepare(delivery, { current: 'a-secret-canary', previous: 'an-older-canary' }, new Date(0), BRANDING),
      ),
    ).not.toContain('canary');
  });
});
