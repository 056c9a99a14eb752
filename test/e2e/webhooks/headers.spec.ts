import { type Api, dataOf, errorOf, type Reply, type Webhook } from '../../support/api';
import { type Hook, useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { deleteWebhooks, publish, settledDeliveries, subscribe } from '../stage/steps';

const KEY = 'Bearer k-4f2a91bc77';
const HIDDEN = '•••';
const ROUNDS = process.env.LONG === '1' ? 1000 : 40;

describeOnStores('The headers of a webhook', (store) => {
  const service = useService(() => ({ RETRY_BASE_DELAY_MS: '100', MAX_RETRIES: '3', ...store.settings() }));
  const receiver = useReceiver();
  const elsewhere = useReceiver();
  let api: Api;
  beforeAll(() => {
    api = service.api;
  });
  afterEach(() => deleteWebhooks(api));

  const withHeaders = (hook: Hook, headers: object) => subscribe(api, hook, ['job.started'], { headers });
  const update = (webhook: { id: string }, changes: object) => api.updateWebhook(webhook.id, changes);
  const namesOf = async (webhook: { id: string }) => Object.keys((await dataOf(api.readWebhook(webhook.id))).headers);
  const fieldsOf = async (reply: Promise<Reply<unknown>>) => {
    const refused = await reply;
    return refused.success || refused.details!.map(({ field }) => field);
  };

  it('are sent with every attempt, redelivery and test, and shown nowhere', async () => {
    const hook = receiver.hook({ status: 500 }, { status: 200 });
    const webhook = await withHeaders(hook, { Authorization: KEY, 'X-Tenant': 'two words' });
    expect(webhook.headers).toEqual({ Authorization: HIDDEN, 'X-Tenant': HIDDEN });
    const event = await publish(api, 'job.started');
    await hook.received(2);
    const rows = await settledDeliveries(api, webhook, event);
    await dataOf(api.redeliver(webhook.id, rows[1]!.id), 202);
    await hook.received(3);
    await settledDeliveries(api, webhook, event);
    const test = await dataOf(api.testWebhook(webhook.id));
    expect(test.request!.headers).toMatchObject({ authorization: HIDDEN, 'x-tenant': HIDDEN });
    for (const { headers } of await hook.received(4))
      expect(headers).toMatchObject({
        authorization: KEY,
        'x-tenant': 'two words',
        'x-service-event': expect.any(String),
      });
    const seen = [await dataOf(api.readWebhook(webhook.id)), await dataOf(api.readDelivery(webhook.id, rows[0]!.id))];
    const stored = await service.database.query(
      `select w::text from webhook_service.webhooks w union all select d::text from webhook_service.deliveries d`,
    );
    expect(JSON.stringify([seen, stored, test])).not.toMatch(/k-4f2a91bc77|two words/);
  });

  it('are merged by PATCH, whatever the case of a name, and removed by null', async () => {
    const hook = receiver.hook();
    const webhook = await withHeaders(hook, { 'X-One': '1', 'X-Two': '2' });
    const { headers } = await dataOf(update(webhook, { headers: { 'x-one': 'one', 'X-Three': '3', 'x-two': null } }));
    expect(headers).toEqual({ 'x-one': HIDDEN, 'X-Three': HIDDEN });
    await publish(api, 'job.started');
    const [call] = await hook.received(1);
    expect(call!.headers).toMatchObject({ 'x-one': 'one', 'x-three': '3' });
    expect(call!.headers).not.toHaveProperty('x-two');
    expect((await dataOf(update(webhook, { description: 'x' }))).headers).toEqual(headers);
    expect((await dataOf(update(webhook, { headers: null }))).headers).toEqual({});
  });

  it('stay with a PUT that leaves them out, and are replaced by one that has them', async () => {
    const hook = receiver.hook();
    const save = (body: object) => api.saveWebhook('gateway', { url: hook.url, events: ['job.started'], ...body });
    const headers = { 'X-One': '1', 'X-Two': '2' };
    await dataOf(save({ headers }), 201);
    const before = await dataOf(save({}));
    expect(Object.keys(before.headers)).toEqual(['X-One', 'X-Two']);
    expect(await dataOf(save({ headers }))).toEqual(before);
    expect(Object.keys((await dataOf(save({ headers: { 'x-two': '2', 'X-Three': '3' } }))).headers)).toEqual([
      ...['x-two', 'X-Three'],
    ]);
    await publish(api, 'job.started');
    const [call] = await hook.received(1);
    expect(call!.headers).toMatchObject({ 'x-two': '2', 'x-three': '3' });
    expect(call!.headers).not.toHaveProperty('x-one');
    expect((await dataOf(save({ headers: null }))).headers).toEqual({});
  });

  it('are bound to the origin of the url', async () => {
    const [hook, other] = [receiver.hook(), elsewhere.hook()];
    const webhook = await withHeaders(hook, { 'X-One': '1', 'X-Two': '2' });
    const refused = await errorOf(
      update(webhook, { url: other.url, headers: { 'x-one': '1' } }),
      'headers_bound_to_origin',
    );
    expect(refused).toContain('X-Two');
    expect(refused).not.toContain('X-One');
    const saved = { url: other.url, events: ['job.started'] };
    await dataOf(update(webhook, { externalId: 'bound' }));
    await errorOf(api.saveWebhook('bound', saved), 'headers_bound_to_origin');
    expect((await dataOf(api.readWebhook(webhook.id))).url).toBe(hook.url);
    await dataOf(update(webhook, { url: `${hook.url}?another=path` }));
    expect(await namesOf(webhook)).toEqual(['X-One', 'X-Two']);
    await dataOf(update(webhook, { url: other.url, headers: { 'x-one': null, 'x-two': 'new' } }));
    await publish(api, 'job.started');
    const [call] = await other.received(1);
    expect(call!.headers['x-two']).toBe('new');
    await dataOf(api.saveWebhook('bound', { ...saved, url: hook.url, headers: { 'x-two': 'new' } }));
    expect(await namesOf(webhook)).toEqual(['x-two']);
  });

  it('never reach another origin, however often url and headers change between attempts', async () => {
    const [one, other] = [receiver.hook({ status: 500 }), elsewhere.hook({ status: 500 })];
    const webhook = await withHeaders(one, { 'x-key': 'for one' });
    const settled: Promise<unknown>[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const event = await publish(api, 'job.started');
      settled.push(settledDeliveries(api, webhook, event, 'all attempts'));
      const [url, key] = round % 2 === 0 ? [other.url, 'for other'] : [one.url, 'for one'];
      await dataOf(update(webhook, { url, headers: { 'x-key': key } }));
    }
    await Promise.all(settled);
    const keysAt = (hook: Hook) => [...new Set(hook.calls.map(({ headers }) => headers['x-key']))];
    expect([keysAt(one), keysAt(other)]).toEqual([['for one'], ['for other']]);
  }, 600_000);

  it('are hidden in a response that repeats them, even where it is cut', async () => {
    const secret = 'k-"quoted"-9c1f';
    const body = JSON.stringify({ authorization: `Bearer ${secret}`, again: [secret] });
    const headers = { 'x-echo': `got Bearer ${secret}` };
    const hook = receiver.hook({ status: 400, headers, body });
    const webhook = await withHeaders(hook, { authorization: `Bearer ${secret}` });
    const { response, error } = await dataOf(api.testWebhook(webhook.id));
    expect(response).toMatchObject({
      headers: { 'x-echo': 'got •••' },
      body: '{"authorization":"•••","again":["•••"]}',
    });
    expect(error!.message).not.toContain('k-');
    hook.answer({ body: `${'x'.repeat(4096 - 8)}Bearer ${secret}` });
    const cut = await dataOf(api.testWebhook(webhook.id));
    expect(cut.response).toMatchObject({ body: `${'x'.repeat(4096 - 8)}•••`, bodyTruncated: true });
  });

  it.each([
    [{ 'X-Service-Signature': 'x' }, ['headers.X-Service-Signature']],
    [{ 'content-type': 'x', cookie: 'x' }, ['headers.content-type', 'headers.cookie']],
    [{ a: 'x\ny' }, ['headers.a']],
    [{ a: 'é' }, ['headers.a']],
    [{ a: 'x'.repeat(1025) }, ['headers.a']],
    [{ a: HIDDEN }, ['headers.a']],
    [{ 'A-b': '1', 'a-B': '2' }, ['headers']],
    [Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`x-${i}`, 'x'])), ['headers']],
    ['a: b', ['headers']],
  ])('%j return 400', async (headers, fields) => {
    const body = { url: 'https://example.com/', events: ['job.started'], headers };
    const webhook = await dataOf(api.createWebhook({ ...body, headers: {} }), 201);
    for (const reply of [api.createWebhook(body), update(webhook, { headers }), api.saveWebhook('x', body)])
      expect(await fieldsOf(reply)).toEqual(fields);
  });

  it('are at most ten after a PATCH, too', async () => {
    const some = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${from + i}`, 'x']));
    const webhook = await withHeaders(receiver.hook(), some(0, 8));
    expect(await fieldsOf(update(webhook, { headers: some(8, 3) }))).toEqual(['headers']);
    expect(await namesOf(webhook)).toHaveLength(8);
    const removed = { 'x-0': null, 'x-1': null };
    expect(
      Object.keys((await dataOf<Webhook>(update(webhook, { headers: { ...removed, ...some(8, 4) } }))).headers),
    ).toHaveLength(10);
  });
});
