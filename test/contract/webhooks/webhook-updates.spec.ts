import { type Api, dataOf, errorOf, pageOf, type Webhook } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { cryptoSignature } from '../../support/signatures';
import { waitFor } from '../../support/wait-for';
import { UNKNOWN_ID } from '../../e2e/stage/examples';
import { deleteWebhooks, publish, subscribe } from '../../e2e/stage/steps';

describe('A webhook', () => {
  const service = useService();
  const receiver = useReceiver();
  let stranger: Api;

  beforeAll(async () => {
    stranger = await service.apiFor('mallory');
  });

  afterEach(() => deleteWebhooks(service.api));

  async function example(): Promise<Webhook> {
    const {
      secret: _secret,
      standardSecret: _same,
      ...webhook
    } = await subscribe(service.api, receiver.hook(), ['job.started'], {
      secret: 'a secret of mine',
      description: 'mine',
    });
    return webhook;
  }

  it.each([
    { url: 'https://example.com/other' },
    { events: ['follower.gained', 'follower.lost'] },
    { description: 'another' },
    { description: null },
    { metadata: { team: 'billing', constructor: 'kept' } },
    { externalId: 'invoices' },
    { format: 'slack' },
    { fields: ['jobId', '__proto__.a'] },
    { format: 'standard', fields: [] },
    { filter: { 'data.amount': { gte: 5 } } },
    { timeoutMs: 5000 },
    { retryDelaysMs: [1000, 86_400_000] },
    { retryDelaysMs: [] },
    { maxPerSecond: 0.5 },
    { active: false },
  ])('changes only what PATCH names: %j', async (change) => {
    const webhook = await example();
    await waitFor(() => Date.now() > Date.parse(webhook.updatedAt), { what: 'the next millisecond', everyMs: 1 });
    const updated = await dataOf(service.api.updateWebhook(webhook.id, change));
    const disabledAt = 'active' in change ? updated.updatedAt : null;
    expect(updated).toEqual({ ...webhook, ...change, disabledAt, updatedAt: expect.any(String) });
    expect(Date.parse(updated.updatedAt)).toBeGreaterThan(Date.parse(webhook.updatedAt));
    expect(await dataOf(service.api.readWebhook(webhook.id))).toEqual(updated);
  });

  it('keeps its secret through a PATCH of other fields', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started'], { secret: 'a secret of mine' });
    await dataOf(service.api.updateWebhook(webhook.id, { description: 'changed' }));
    await publish(service.api, 'job.started');
    const [call] = await hook.received(1);
    expect(call!.headers['x-service-signature']).toBe(cryptoSignature(call!.body, 'a secret of mine'));
  });

  it('signs with the new secret after a PATCH of it, which does not answer it', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started'], { secret: 'a secret of mine' });
    const updated = await dataOf(service.api.updateWebhook(webhook.id, { secret: 'a newer secret' }));
    expect(updated).not.toHaveProperty('secret');
    expect(updated).not.toHaveProperty('standardSecret');
    await publish(service.api, 'job.started');
    const [call] = await hook.received(1);
    expect(call!.headers['x-service-signature']).toBe(cryptoSignature(call!.body, 'a newer secret'));
    expect(call!.headers).not.toHaveProperty('x-service-signature-previous');
  });

  it.each([
    [{}, /url, events, secret, description/],
    [{ url: 'http://10.0.0.1/' }, /ALLOWED_NETWORKS/],
    [{ url: null }, /url/],
    [{ events: ['no.such_event'] }, /no\.such_event/],
    [{ events: null }, /events/],
    [{ secret: 'short' }, /secret/],
    [{ active: 'false' }, /active/],
    [{ description: 5 }, /description/],
    [{ description: 'fine', nickname: 'x' }, /nickname/],
    [{ id: UNKNOWN_ID }, /id/],
  ])('refuses the PATCH %j and stays as it was', async (change, message) => {
    const webhook = await example();
    expect(await errorOf(service.api.updateWebhook(webhook.id, change), 400)).toMatch(message);
    expect(await dataOf(service.api.readWebhook(webhook.id))).toEqual(webhook);
  });

  it('can be deactivated and activated again', async () => {
    const { id } = await example();
    const disabled = await dataOf(service.api.updateWebhook(id, { active: false }));
    expect(disabled).toMatchObject({ active: false, disabledAt: disabled.updatedAt });
    const changed = await dataOf(service.api.updateWebhook(id, { active: false, description: 'still' }));
    expect(changed.disabledAt).toBe(disabled.disabledAt);
    const again = await dataOf(service.api.updateWebhook(id, { active: true }));
    expect(again).toMatchObject({ active: true, disabledReason: null, disabledAt: null, consecutiveFailures: 0 });
  });

  it('never shows its secret when it is read', async () => {
    const { id } = await example();
    const [listed] = (await pageOf(service.api.listWebhooks())).rows;
    const read = await dataOf(service.api.readWebhook(id));
    const updated = await dataOf(service.api.updateWebhook(id, { active: true }));
    for (const shown of [listed, read, updated]) expect(JSON.stringify(shown)).not.toMatch(/secret"|whsec_/);
  });

  it('is gone after DELETE, which answers its id', async () => {
    const { id } = await example();
    expect(await dataOf(service.api.deleteWebhook(id))).toEqual({ id });
    await errorOf(service.api.readWebhook(id), 404);
    await errorOf(service.api.deleteWebhook(id), 404);
    expect((await pageOf(service.api.listWebhooks())).rows).toEqual([]);
  });

  const ROUTES: [string, (api: Api, id: string) => ReturnType<Api['call']>][] = [
    ['GET', (api, id) => api.readWebhook(id)],
    ['PATCH', (api, id) => api.updateWebhook(id, { description: 'mine now' })],
    ['DELETE', (api, id) => api.deleteWebhook(id)],
    ['POST test', (api, id) => api.testWebhook(id)],
    ['GET deliveries', (api, id) => api.listDeliveries(id)],
    ['GET one delivery', (api, id) => api.readDelivery(id, UNKNOWN_ID)],
    ['POST rotate-secret', (api, id) => api.rotateSecret(id)],
    ['POST redeliver', (api, id) => api.redeliver(id, UNKNOWN_ID)],
    ['POST recover', (api, id) => api.recover(id, { since: '2026-01-15T09:30:00Z' })],
    ['GET one recovery', (api, id) => api.readRecovery(id, UNKNOWN_ID)],
  ];

  it.each(ROUTES)('of another user is as unknown to %s as a random id', async (_, call) => {
    const webhook = await example();
    expect(await errorOf(call(stranger, webhook.id), 404)).toBe(await errorOf(call(stranger, UNKNOWN_ID), 404));
    expect(await dataOf(service.api.readWebhook(webhook.id))).toEqual(webhook);
  });

  it.each(ROUTES)('has an id that %s refuses when it is no UUID', async (_, call) => {
    for (const id of ['1', "'", '..%2f', '%00', `${UNKNOWN_ID}0`]) {
      const reply = await call(service.api, id);
      expect([400, 404]).toContain(reply.status);
      expect(reply.success).toBe(false);
    }
    await errorOf(call(service.api, 'not-a-uuid'), 400);
  });
});
