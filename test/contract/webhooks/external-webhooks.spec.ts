import { type Api, dataOf, errorOf, pageOf, type Reply, type Webhook } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { cryptoSignature } from '../../support/signatures';
import { deleteWebhooks, publish } from '../../e2e/stage/steps';

describe('A webhook with an external id', () => {
  const service = useService({ MAX_WEBHOOKS_PER_USER: '50' });
  const receiver = useReceiver();
  const wanted = { url: 'https://example.com/hook', events: ['job.started', 'follower.*'] };
  let stranger: Api;

  beforeAll(async () => {
    stranger = await service.apiFor('mallory');
  });

  afterEach(async () => {
    await deleteWebhooks(service.api);
    await deleteWebhooks(stranger);
  });

  const save = (body: object, externalId = 'billing:invoices') => service.api.saveWebhook(externalId, body);
  const read = (externalId = 'billing:invoices') => dataOf(service.api.readExternalWebhook(externalId));
  const statusOf = async (reply: Promise<Reply<unknown>>) => (await reply).status;

  it('is created by PUT, which returns its secret and its place once', async () => {
    const reply = await save({ ...wanted, metadata: { team: 'billing' } });
    if (!reply.success) throw new Error(reply.error);
    const { secret, standardSecret, ...webhook } = reply.data as Webhook & Record<string, unknown>;
    expect(reply).toMatchObject({
      status: 201,
      headers: { location: `/api/webhooks/${webhook.id}`, etag: expect.stringMatching(/^"/) },
    });
    expect(standardSecret).toBe(secret);
    expect(webhook).toMatchObject({ ...wanted, externalId: 'billing:invoices', active: true });
    expect(await read()).toEqual(webhook);
    expect(await dataOf(service.api.readWebhook(webhook.id))).toEqual(webhook);
    expect((await pageOf(service.api.listWebhooks({ q: 'LING:INV' }))).rows).toEqual([webhook]);
  });

  it('stays as it is, its version and an overlap of secrets too, when PUT says the same', async () => {
    const body = { ...wanted, secret: 'a secret of mine', description: 'x', metadata: { b: '1', a: '2' } };
    const created = await dataOf(save(body), 201);
    await dataOf(service.api.rotateSecret(created.id, { secret: 'a newer secret' }));
    const before = await read();
    const same = { ...body, secret: 'a newer secret', metadata: { a: '2', b: '1' }, url: 'https://EXAMPLE.com/hook' };
    for (const more of [{}, { secret: undefined }, { active: true }])
      expect(await dataOf(save({ ...same, ...more }))).toEqual(before);
    expect(before.previousSecretExpiresAt).not.toBeNull();
  });

  it('gets the defaults of all fields that PUT leaves out, but keeps its secret and stays inactive', async () => {
    const hook = receiver.hook();
    const full = { ...wanted, secret: 'a secret of mine', description: 'x', metadata: { a: 'b' }, active: false };
    const { id } = await dataOf(save(full), 201);
    const saved = await dataOf(save({ url: hook.url, events: ['job.started'] }));
    expect(saved).toMatchObject({ id, url: hook.url, description: null, metadata: {}, active: false });
    expect(saved).not.toHaveProperty('secret');
    expect(await dataOf(save({ url: hook.url, events: ['job.started'], active: true }))).toMatchObject({
      active: true,
    });
    await publish(service.api, 'job.started');
    const [call] = await hook.received(1);
    expect(call!.headers['x-service-signature']).toBe(cryptoSignature(call!.body, 'a secret of mine'));
  });

  it('exists once after fifty PUTs at the same time', async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => save(wanted)));
    const statuses = replies.map(({ status }) => status);
    expect([
      statuses.filter((status) => status === 201).length,
      statuses.filter((status) => status === 200).length,
    ]).toEqual([1, 49]);
    expect((await pageOf(service.api.listWebhooks())).rows).toHaveLength(1);
  });

  it('is created or replaced by each PUT while others delete it, and never fails', async () => {
    const calls = Array.from({ length: 60 }, (_, i) =>
      i % 2 === 0 ? statusOf(save(wanted)) : statusOf(service.api.deleteExternalWebhook('billing:invoices')),
    );
    const statuses = await Promise.all(calls);
    expect(statuses.filter((_, i) => i % 2 === 0).every((status) => status === 200 || status === 201)).toBe(true);
    expect(statuses.filter((_, i) => i % 2 === 1).every((status) => status === 200 || status === 404)).toBe(true);
    const created = statuses.filter((status) => status === 201).length;
    const deleted = statuses.filter((status, i) => i % 2 === 1 && status === 200).length;
    expect((await pageOf(service.api.listWebhooks())).rows).toHaveLength(created - deleted);
  });

  it('honours if-match and if-none-match', async () => {
    const put = (headers: Record<string, string>, description?: string) =>
      service.api.saveWebhook('billing:invoices', { ...wanted, description }, headers);
    await errorOf(put({ 'if-match': '*' }), 'precondition_failed');
    const created = await put({ 'if-none-match': '*' });
    expect(created.status).toBe(201);
    await errorOf(put({ 'if-none-match': '*' }), 'precondition_failed');
    const etag = created.headers.etag!;
    expect((await put({ 'if-match': etag }, 'changed')).status).toBe(200);
    await errorOf(put({ 'if-match': etag }), 'precondition_failed');
    await errorOf(service.api.deleteExternalWebhook('billing:invoices', { 'if-match': etag }), 'precondition_failed');
    expect((await read()).description).toBe('changed');
  });

  it('is unique among the webhooks of a user, and free again once deleted or cleared', async () => {
    const create = (externalId: string) => service.api.createWebhook({ ...wanted, externalId });
    const one = await dataOf(create('a'), 201);
    await errorOf(create('a'), 'external_id_taken');
    const other = await dataOf(create('b'), 201);
    await errorOf(service.api.updateWebhook(other.id, { externalId: 'a' }), 'external_id_taken');
    await dataOf(service.api.updateWebhook(one.id, { externalId: 'a' }));
    await dataOf(stranger.createWebhook({ ...wanted, externalId: 'a' }), 201);
    await dataOf(service.api.updateWebhook(one.id, { externalId: null }));
    expect((await dataOf(service.api.updateWebhook(other.id, { externalId: 'a' }))).externalId).toBe('a');
    await dataOf(service.api.deleteExternalWebhook('a'));
    expect(await statusOf(create('a'))).toBe(201);
    const taken = await Promise.all(Array.from({ length: 20 }, () => statusOf(create('c'))));
    expect(taken.sort()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
  });

  it('belongs to its user', async () => {
    await dataOf(save(wanted), 201);
    await errorOf(stranger.readExternalWebhook('billing:invoices'), 404);
    await errorOf(stranger.deleteExternalWebhook('billing:invoices'), 404);
    expect(await statusOf(stranger.saveWebhook('billing:invoices', wanted))).toBe(201);
    expect((await read()).url).toBe(wanted.url);
  });

  it('counts for MAX_WEBHOOKS_PER_USER', async () => {
    for (let i = 0; i < 50; i++) await dataOf(save(wanted, `n${i}`), 201);
    await errorOf(save(wanted, 'one-more'), 'webhook_limit_reached');
    expect(await statusOf(save(wanted, 'n0'))).toBe(200);
  });

  it('keeps a subscription whose event type is gone', async () => {
    await dataOf(service.api.createEventType({ name: 'shop.closed', description: 'x' }), 201);
    await dataOf(save({ ...wanted, events: ['shop.closed'] }), 201);
    await dataOf(service.api.deleteEventType('shop.closed'));
    expect(await statusOf(save({ ...wanted, events: ['shop.closed', 'job.started'] }))).toBe(200);
    await errorOf(save({ ...wanted, events: ['shop.closed'] }, 'another'), 400);
  });

  it.each(['-a', '.a', 'a%20b', 'a%2Fb', '%C3%A9', `${'a'.repeat(129)}`])('%s is refused', async (externalId) => {
    const status = externalId.length > 128 ? 404 : 400;
    for (const reply of [save(wanted, externalId), service.api.readExternalWebhook(externalId)])
      expect(await statusOf(reply)).toBe(status);
  });

  it.each([
    ['externalId', { ...wanted, externalId: 'a' }],
    ['url', { events: ['*'] }],
    ['kind', { ...wanted, kind: 'call' }],
    ['metadata', { ...wanted, metadata: null }],
  ])('needs a whole and known body: %s', async (field, body) => {
    const reply = await save(body);
    expect(reply.success || reply.details!.map((detail) => detail.field)).toEqual([field]);
  });
});
