import { Webhook } from 'standardwebhooks';
import { signDelivery } from './sign-delivery';
import { verifySignature, WebhookSignatureError } from './verify-signature';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const DELIVERY = { event: 'order.paid', data: { orderId: '42', note: 'Ölçer \u2028' }, secret: SECRET };

describe('A signed delivery', () => {
  it('is accepted by verifySignature and by the Standard Webhooks library', () => {
    const { headers, body } = signDelivery(DELIVERY);
    for (const scheme of ['any', 'standard', 'service'] as const) {
      expect(verifySignature(body, headers, SECRET, { scheme })).toEqual({
        id: headers['webhook-id'],
        event: 'order.paid',
        createdAt: expect.any(String),
        data: DELIVERY.data,
      });
    }
    expect(new Webhook(SECRET).verify(body, headers)).toMatchObject({ data: DELIVERY.data });
  });

  it('may be old, a redelivery, or signed during a rotation', () => {
    const old = signDelivery({ ...DELIVERY, at: new Date(Date.now() - 600_000) });
    expect(() => verifySignature(old.body, old.headers, SECRET)).toThrow(WebhookSignatureError);
    const again = signDelivery({ ...DELIVERY, id: 'event-1', attempt: 3, trigger: 'redelivery' });
    expect(again.headers).toMatchObject({
      'webhook-id': 'event-1',
      'x-service-attempt': '3',
      'x-service-trigger': 'redelivery',
      'x-service-event': 'order.paid',
    });
    const rotated = signDelivery({ ...DELIVERY, secret: 'the new secret', previousSecret: SECRET });
    for (const secret of ['the new secret', SECRET]) {
      expect(verifySignature(rotated.body, rotated.headers, secret).event).toBe('order.paid');
    }
    expect(() => verifySignature(rotated.body, rotated.headers, 'another secret')).toThrow(WebhookSignatureError);
  });
});
