import { dataOf, errorOf, exchange } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { opensslSignature } from '../../support/signatures';
import { settledDeliveries, subscribe } from '../../e2e/stage/steps';

interface Outgoing {
  post: {
    parameters: { name: string; required: boolean }[];
    requestBody: {
      content: { 'application/json': { schema: { properties: { data: object } }; example: { data: object } } };
    };
  };
}

describe('EXTRA_EVENT_TYPES', () => {
  const service = useService({ EXTRA_EVENT_TYPES: 'invoice.paid, shop.order.shipped' });
  const receiver = useReceiver();

  it('can be subscribed to by name and prefix, published with any object, and tested', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['shop.order.*', 'invoice.paid']);
    await dataOf(service.api.publish({ event: 'shop.order.shipped', data: { any: ['thing'] } }), 202);
    await dataOf(service.api.testWebhook(webhook.id, { event: 'invoice.paid' }));
    const calls = await hook.received(2);
    const bodies = calls.map(({ body }) => JSON.parse(body.toString()) as { event: string; data: object });
    expect(bodies.map(({ event, data }) => [event, data]).sort()).toEqual([
      ['invoice.paid', {}],
      ['shop.order.shipped', { any: ['thing'] }],
    ]);
  });

  it('does not make everything known', async () => {
    expect(await errorOf(service.api.publish({ event: 'invoice.sent', data: {} }), 400)).toContain('invoice.paid');
    const wrong = service.api.createWebhook({ url: receiver.hook().url, events: ['order.*'] });
    expect(await errorOf(wrong, 400)).toContain('shop.order.shipped');
  });

  it('is in the OpenAPI document, which says of every event what /api/event-types says', async () => {
    const types = await dataOf(service.api.eventTypes());
    const answer = await exchange(service.url, 'GET', '/docs/openapi.json');
    const { webhooks } = JSON.parse(answer.text) as { webhooks: Record<string, Outgoing> };
    expect(Object.keys(webhooks).sort()).toEqual(types.map(({ name }) => name).sort());
    expect(Object.keys(webhooks)).toEqual(expect.arrayContaining(['invoice.paid', 'shop.order.shipped']));
    for (const { name, schema, example } of types) {
      const { post } = webhooks[name]!;
      const body = post.requestBody.content['application/json'];
      expect({ name, data: body.schema.properties.data, example: body.example }).toEqual({
        name,
        data: schema,
        example: { id: expect.any(String), event: name, createdAt: expect.any(String), data: example },
      });
    }
  });

  it('is told with the headers that a receiver gets', async () => {
    const hook = receiver.hook();
    const { id } = await subscribe(service.api, hook, ['invoice.paid']);
    await dataOf(service.api.testWebhook(id));
    const [call] = await hook.received(1);
    const sent = Object.keys(call!.headers).filter((name) => /^(x-service|webhook)-/.test(name));
    const answer = await exchange(service.url, 'GET', '/docs/openapi.json');
    const { webhooks } = JSON.parse(answer.text) as { webhooks: Record<string, Outgoing> };
    const told = webhooks['invoice.paid']!.post.parameters;
    expect(
      told
        .filter(({ required }) => required)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(sent.sort());
    expect(told.filter(({ required }) => !required).map(({ name }) => name)).toEqual([
      'x-service-signature-previous',
      'x-service-subject',
      'traceparent',
    ]);
  });

  it('shows of a delivery what openssl can compute the signature from', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['invoice.paid'], { secret: 'a secret of mine' });
    const event = await dataOf(service.api.publish({ event: 'invoice.paid', data: { text: 'é\u0000\ud800' } }), 202);
    const [row] = await settledDeliveries(service.api, webhook, event);
    const { request } = await dataOf(service.api.readDelivery(webhook.id, row!.id));
    const [call] = await hook.received(1);
    expect(Buffer.from(request!.body)).toEqual(call!.body);
    for (const [name, value] of Object.entries(request!.headers)) expect(call!.headers[name]).toBe(value);
    const { headers } = request!;
    expect(headers['x-service-signature']).toBe(await opensslSignature(Buffer.from(request!.body), 'a secret of mine'));
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${request!.body}`;
    const standard = Buffer.from(await opensslSignature(Buffer.from(signed), 'a secret of mine'), 'hex').toString(
      'base64',
    );
    expect(headers['webhook-signature']).toBe(`v1,${standard}`);
  });
});
