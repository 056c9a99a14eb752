import { type Api, dataOf, errorOf, exchange } from '../../support/api';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';
import { type Service, startService } from '../../support/service';
import { cryptoSignature } from '../../support/signatures';
import { deleteWebhooks, publish, settledDeliveries, subscribe } from '../stage/steps';

const SECRET = 'a secret of mine';
const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');

describe('HEADER_PREFIX and USER_AGENT', () => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let service: Service;
  let api: Api;

  const start = async (settings: Record<string, string>): Promise<void> => {
    expect(await service?.stop()).not.toBe(1);
    service = await startService({ SECRETS_KEY, LOG_LEVEL: 'warn', ...settings }, database);
    api = service.api;
  };
  beforeAll(async () => {
    database = await cloneDatabase();
  });
  afterAll(async () => {
    await service?.stop();
    await database.drop();
  });
  afterEach(() => deleteWebhooks(api));

  it('name the headers of deliveries and messages, which webhooks cannot set', async () => {
    await start({ HEADER_PREFIX: 'x-acme,acme', USER_AGENT: 'Acme/1.0' });
    expect(await dataOf(api.call('GET', '/api/about'))).toMatchObject({
      ...{ headerPrefixes: ['x-acme', 'acme'], userAgent: 'Acme/1.0' },
    });
    const hook = receiver.hook();
    const webhook = await subscribe(api, hook, ['job.started'], { secret: SECRET, headers: { 'x-acme-key': 'k' } });
    for (const name of ['X-Acme-Event', 'acme-signature', 'x-acme-subject', 'x-service-key'])
      await errorOf(api.updateWebhook(webhook.id, { headers: { [name]: 'a' } }), 'validation_failed');
    const event = await publish(api, 'job.started');
    const [call] = await hook.received(1);
    const signature = cryptoSignature(call!.body, SECRET);
    expect(call!.headers).toMatchObject({
      ...{ 'user-agent': 'Acme/1.0', 'x-acme-key': 'k', 'webhook-id': event.id, 'x-service-signature': signature },
      ...{ 'x-acme-signature': signature, 'acme-signature': signature, 'acme-event': 'job.started' },
      ...{ 'x-acme-delivery': expect.any(String), 'x-acme-attempt': '1', 'acme-trigger': 'event' },
    });
    expect(Object.keys(call!.headers).filter((name) => name.startsWith('x-service-'))).toEqual(['x-service-signature']);
    const { text } = await exchange(service.url, 'GET', '/docs/openapi.json');
    expect(text).toContain('"name":"acme-event"');
    expect(text).not.toContain('"name":"x-service-event"');
    await dataOf(api.rotateSecret(webhook.id, {}));
    await publish(api, 'job.started');
    const [, second] = await hook.received(2);
    expect(second!.headers['acme-signature-previous']).toBe(cryptoSignature(second!.body, SECRET));
  });

  it('that are others than at the last start are told, as are headers of webhooks that are not sent any more', async () => {
    await start({ HEADER_PREFIX: 'x-acme' });
    const hook = receiver.hook();
    const headers = { 'x-other-key': 'kept', 'X-Other-Event': 'mine' };
    const webhook = await subscribe(api, hook, ['job.started'], { headers });
    await start({ HEADER_PREFIX: 'x-other' });
    expect(service.logs()).toContain('HEADER_PREFIX is now x-other, and was x-acme');
    expect(service.logs()).toContain(`1 webhooks have headers that HEADER_PREFIX reserves`);
    expect(service.logs()).toContain(webhook.id);
    const event = await publish(api, 'job.started');
    const [call] = await hook.received(1);
    expect(call!.headers).toMatchObject({ 'x-other-key': 'kept', 'x-other-event': 'job.started' });
    const [row] = await settledDeliveries(api, webhook, event);
    const { request } = await dataOf(api.readDelivery(webhook.id, row!.id));
    expect(request!.headers).toMatchObject({ 'x-other-key': '•••', 'x-other-event': 'job.started' });
    await dataOf(api.updateWebhook(webhook.id, { headers: { 'X-Other-Event': null } }));
    await start({ HEADER_PREFIX: 'x-other' });
    expect(service.logs()).not.toContain('HEADER_PREFIX');
  });
});
