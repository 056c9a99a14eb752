import { signDelivery } from './sign-delivery';
import { verifySignature, type VerifyOptions } from './verify-signature';

const SECRET = 'correct horse battery staple';
const data = { id: 'inv_1', event: 'forged.name', createdAt: '1970-01-01T00:00:00.000Z', data: {} };
const signed = (format: 'native' | 'payload' | 'standard') =>
  signDelivery({ event: 'invoice.paid', data, secret: SECRET, id: 'evt_1', createdAt: new Date(1000), format });
const received = (format: 'native' | 'payload' | 'standard', more: object = {}) => {
  const { body, headers } = signed(format);
  return verifySignature(body, { ...headers, ...more }, SECRET, { format });
};

describe('A verified delivery', () => {
  it('has the id, the name and the time of its event where a signature covers them', () => {
    const event = { id: 'evt_1', event: 'invoice.paid', createdAt: '1970-01-01T00:00:01.000Z', data };
    expect([received('native'), received('standard')]).toEqual([event, event]);
  });

  it('has only the id and the data in the format payload, and apart what no signature covers', () => {
    const subject = 'invoice%2F1%20%F0%9F%98%80';
    expect(received('payload', { 'x-service-subject': subject })).toEqual({
      ...{ id: 'evt_1', event: null, createdAt: null, data },
      unsigned: { event: 'invoice.paid', subject: 'invoice/1 😀' },
    });
    expect(received('payload', { 'x-service-event': undefined, 'x-service-subject': '%zz' })).toMatchObject({
      unsigned: { event: null, subject: '%zz' },
    });
  });

  it('has its unsigned headers under the prefix of the service', () => {
    const { body, headers } = signDelivery({
      event: 'a.b',
      data,
      secret: SECRET,
      format: 'payload',
      headerPrefix: 'x-acme',
    });
    expect(headers).toMatchObject({ 'x-acme-event': 'a.b', 'x-acme-signature': headers['x-service-signature'] });
    expect(verifySignature(body, headers, SECRET, { format: 'payload', headerPrefix: 'x-acme' })).toMatchObject({
      unsigned: { event: 'a.b' },
    });
  });

  it.each<[string, VerifyOptions]>([
    ['a format that is none', { format: 'slack' as 'native' }],
    ['a scheme that does not sign the id', { format: 'payload', scheme: 'service' }],
    ['a scheme that may not sign the id', { format: 'standard', scheme: 'any' }],
  ])('is not read with %s', (_, options) => {
    const { body, headers } = signed('payload');
    expect(() => verifySignature(body, headers, SECRET, options)).toThrow(TypeError);
  });
});
