import { type Api, type CreatedWebhook, dataOf, errorOf } from '../../support/api';
import { type Hook, useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { cryptoSignature, verifyStandardWebhook } from '../../support/signatures';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { deleteWebhooks, deliveriesOf, publish, settledDeliveries, subscribe } from '../stage/steps';

const SECRET = 'a secret of mine';
const DATA = {
  ...{ jobId: 'j', queue: 'q', name: 'n', attempt: 1, startedAt: '2026-01-15T09:30:00.000Z' },
  ...{ test: true, lines: [{ sku: 'a', cents: 1 }, 5, { cents: 2 }], customer: { id: '7', mail: 'ada@example.com' } },
};
const FIELDS = ['customer.id', 'lines.sku', 'jobId'];
const SENT = '{"jobId":"j","lines":[{"sku":"a"},null,{}],"customer":{"id":"7"}}';

describeOnStores('The fields of a webhook', (store) => {
  const service = useService(() => ({
    ...{ MAX_RETRIES: '1', RETRY_BASE_DELAY_MS: '100', ...store.settings() },
  }));
  const receiver = useReceiver();
  let api: Api;
  beforeAll(() => {
    api = service.api;
  });
  afterEach(() => deleteWebhooks(api));

  const withFields = (hook: Hook, more: Record<string, unknown> = {}): Promise<CreatedWebhook> =>
    subscribe(api, hook, ['job.started'], { secret: SECRET, fields: FIELDS, ...more });
  const detailOf = (webhook: { id: string }, { id }: { id: string }) => dataOf(api.readDelivery(webhook.id, id));

  it.each(['native', 'payload', 'standard', 'cloudevents'])('are all that %s sends, signs and logs', async (format) => {
    const hook = receiver.hook();
    const webhook = await withFields(hook, { format });
    const event = await publish(api, 'job.started', { data: DATA });
    const [call] = await hook.received(1);
    const [row] = await settledDeliveries(api, webhook, event);
    const preview = { format, fields: FIELDS, eventId: event.id };
    const { body } = await dataOf(api.call<{ body: string }>('POST', '/api/format-previews', { body: preview }));
    expect(call!.body.toString()).toBe(body);
    expect(body.endsWith(format === 'payload' ? SENT : `"data":${SENT}}`)).toBe(true);
    expect(call!.headers['x-service-signature']).toBe(cryptoSignature(call!.body, SECRET));
    expect(verifyStandardWebhook(call!, SECRET)).toEqual(JSON.parse(body));
    const { request } = await detailOf(webhook, row!);
    expect(request).toEqual({ headers: expect.any(Object), body, ...(format !== 'native' && { format }) });
  });

  it('are none with an empty list, and a filter sees all of the data', async () => {
    const hook = receiver.hook();
    await withFields(hook, { fields: [], filter: { 'data.test': true } });
    await publish(api, 'job.started', { data: { ...DATA, test: false } });
    const event = await publish(api, 'job.started', { data: DATA });
    const [call] = await hook.received(1);
    expect(JSON.parse(call!.body.toString())).toEqual({
      ...{ id: event.id, event: 'job.started', createdAt: event.createdAt, data: {} },
    });
  });

  it('are those of the webhook at each attempt, and a row keeps what it sent', async () => {
    const hook = receiver.hook({ status: 500 });
    const webhook = await withFields(hook, { format: 'payload', retryDelaysMs: [1500] });
    const event = await publish(api, 'job.started', { data: DATA });
    await hook.received(1);
    await waitFor(async () => (await deliveriesOf(api, webhook, event)).length === 2, { what: 'the pending retry' });
    await dataOf(api.updateWebhook(webhook.id, { format: 'standard', fields: ['queue'] }));
    const [first, second] = await settledDeliveries(api, webhook, event);
    await dataOf(api.updateWebhook(webhook.id, { format: 'native', fields: null }));
    await dataOf(api.redeliver(webhook.id, second!.id), 202);
    const [, , third] = await settledDeliveries(api, webhook, event);
    const requests = await Promise.all(
      [first, second, third].map(async (row) => (await detailOf(webhook, row!)).request),
    );
    expect(requests.map((request) => [request!.format, request!.body])).toEqual([
      ['payload', SENT],
      ['standard', `{"type":"job.started","timestamp":"${event.createdAt}","data":{"queue":"q"}}`],
      [undefined, expect.stringContaining('"mail":"ada@example.com"')],
    ]);
  });

  it('are in tests, and in messages for consumers', async () => {
    const hook = receiver.hook();
    const webhook = await withFields(hook, { fields: ['message'] });
    const { request } = await dataOf(api.testWebhook(webhook.id));
    expect(JSON.parse(request!.body)).toMatchObject({ event: 'webhook.test', data: { message: expect.any(String) } });
    expect(request!.body).not.toContain('webhookId');
    const pull = { kind: 'pull', events: ['job.started'], format: 'payload', fields: FIELDS };
    const consumer = await dataOf(api.createWebhook(pull), 201);
    await publish(api, 'job.started', { data: DATA });
    const [message] = await dataOf(api.lease(consumer.id, { waitSeconds: 20 }));
    expect(message!.body).toBe(SENT);
    expect((await detailOf(consumer, { id: message!.deliveryId })).request).toMatchObject({ body: SENT });
  });

  it('end a delivery that they cannot be selected for, which is never sent whole', async () => {
    const hook = receiver.hook({ status: 500 });
    const webhook = await withFields(hook, { retryDelaysMs: [] });
    const consumer = await dataOf(api.createWebhook({ kind: 'pull', events: ['job.started'], fields: ['a'] }), 201);
    const event = await publish(api, 'job.started', { data: DATA });
    const [row] = await settledDeliveries(api, webhook, event);
    const cut = `update webhook_service.events set body = left(body, -3) where id = $1`;
    await service.database.query(cut, [event.id]);
    await dataOf(api.updateWebhook(webhook.id, { fields: ['customer.mail'], retryDelaysMs: null }));
    await dataOf(api.redeliver(webhook.id, row!.id), 202);
    expect(await dataOf(api.lease(consumer.id, { waitSeconds: 0 }))).toEqual([]);
    for (const each of [webhook, consumer])
      expect((await settledDeliveries(api, each, event)).at(-1)).toMatchObject({
        ...{ status: 'failed', attemptedAt: null, nextAttemptAt: null, error: { code: 'projection_failed' } },
      });
    expect(hook.calls).toHaveLength(1);
  });

  it('go with formats of data only', async () => {
    const webhook = await withFields(receiver.hook());
    const url = 'https://example.com/';
    for (const refused of [
      api.createWebhook({ url, events: ['*'], format: 'slack', fields: [] }),
      api.updateWebhook(webhook.id, { format: 'discord' }),
      api.saveWebhook('new', { url, events: ['*'], format: 'teams', fields: ['a'] }),
      api.updateWebhook(webhook.id, { fields: Array.from({ length: 51 }, (_, i) => `a${i}`) }),
      api.updateWebhook(webhook.id, { fields: 'a' }),
    ])
      await errorOf(refused, 'validation_failed');
    await dataOf(api.updateWebhook(webhook.id, { format: 'discord', fields: null }));
    const saved = await dataOf(api.saveWebhook('mine', { url, events: ['*'], fields: ['a'], format: 'payload' }), 201);
    expect(await dataOf(api.saveWebhook('mine', { url, events: ['*'] }))).toEqual(
      expect.objectContaining({ id: saved.id, fields: ['a'], format: 'payload', updatedAt: saved.updatedAt }),
    );
    expect(await dataOf(api.saveWebhook('mine', { url, events: ['*'], fields: null }))).toMatchObject({ fields: null });
  });
});
