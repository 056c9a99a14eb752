import { createHmac } from 'node:crypto';
import { type Api, dataOf, type Delivery, errorOf, type Reply } from '../../support/api';
import { type Hook, useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { cryptoSignature, verifyStandardWebhook } from '../../support/signatures';
import { describeOnStores } from '../../support/stores';
import { EXAMPLES, UNKNOWN_ID } from '../stage/examples';
import { deleteWebhooks, publish, settledDeliveries, subscribe } from '../stage/steps';

const SECRET = 'a secret of mine';
const CHATS = ['slack', 'discord', 'teams'];
const FORMATS = ['payload', 'standard', 'cloudevents', ...CHATS];

describeOnStores('The format of a webhook', (store) => {
  const service = useService(() => ({ MAX_RETRIES: '1', ...store.settings() }));
  const receiver = useReceiver();
  let api: Api;
  beforeAll(() => {
    api = service.api;
  });
  afterEach(() => deleteWebhooks(api));

  const formatted = (hook: Hook, format: string) => subscribe(api, hook, ['job.started'], { format, secret: SECRET });
  const preview = (body: object, by = api) =>
    by.call<{ contentType: string; body: string }>('POST', '/api/format-previews', { body });
  const detailOf = async (webhook: { id: string }, { id }: Delivery) => dataOf(api.readDelivery(webhook.id, id));

  it.each(FORMATS)('%s: sends, signs and logs the body of its preview', async (format) => {
    const hook = receiver.hook();
    const webhook = await formatted(hook, format);
    const event = await publish(api, 'job.started');
    const [call] = await hook.received(1);
    const [row] = await settledDeliveries(api, webhook, event);
    const { contentType, body } = await dataOf(preview({ format, eventId: event.id }));
    expect(call!.body.toString()).toBe(body);
    expect(call!.headers).toMatchObject({ 'content-type': contentType, 'webhook-id': event.id });
    expect(call!.headers['x-service-signature']).toBe(cryptoSignature(call!.body, SECRET));
    expect(verifyStandardWebhook(call!, SECRET)).toEqual(JSON.parse(body));
    expect((await detailOf(webhook, row!)).request).toMatchObject({ body, format });
  });

  it('native is the default, with the stored body', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(api, hook, ['job.started'], { secret: SECRET });
    const event = await publish(api, 'job.started');
    const [call] = await hook.received(1);
    const [row] = await settledDeliveries(api, webhook, event);
    const { body } = await dataOf(preview({ format: 'native', eventId: event.id }));
    expect(call!.body.toString()).toBe(body);
    expect(call!.headers['x-service-signature']).toBe(createHmac('sha256', SECRET).update(body).digest('hex'));
    expect((await detailOf(webhook, row!)).request).toEqual({ headers: expect.any(Object), body });
  });

  it('names the user of an event, or all, as the source of a cloud event', async () => {
    const hook = receiver.hook();
    await formatted(hook, 'cloudevents');
    const broadcaster = api.withToken(await service.createToken('shop', ['events:publish', 'events:broadcast']));
    const [mine, everybody] = [
      await publish(api, 'job.started'),
      await publish(broadcaster, 'job.started', { userId: null }),
    ];
    const sources = new Map((await hook.received(2)).map(({ body }) => bodyOf(body)));
    const { userId } = await dataOf(api.me());
    expect([sources.get(mine.id), sources.get(everybody.id)]).toEqual([
      `urn:webhook-notification-service:user:${encodeURIComponent(userId)}`,
      'urn:webhook-notification-service:all',
    ]);
  });

  it('holds for each attempt as it is then, and a row keeps what it sent', async () => {
    const hook = receiver.hook({ status: 500 });
    const webhook = await formatted(hook, 'slack');
    const event = await publish(api, 'job.started');
    const rows = await settledDeliveries(api, webhook, event);
    await dataOf(api.updateWebhook(webhook.id, { format: 'discord' }));
    hook.answer({ status: 200 });
    await dataOf(api.redeliver(webhook.id, rows.at(-1)!.id), 202);
    const all = await settledDeliveries(api, webhook, event);
    const formats = await Promise.all(all.map(async (row) => (await detailOf(webhook, row)).request!.format));
    expect(formats).toEqual(['slack', 'slack', 'discord']);
    const [first, , again] = await hook.received(3);
    expect(again!.body.equals(first!.body)).toBe(false);
    expect((await detailOf(webhook, all[0]!)).request!.body).toBe(first!.body.toString());
  });

  it('applies to events of 96 KiB, of which a chat shows the beginning', async () => {
    const hook = receiver.hook();
    const webhook = await formatted(hook, 'slack');
    const event = await publish(api, 'job.started', { data: { ...EXAMPLES['job.started'], more: 'x'.repeat(90_000) } });
    const [row] = await settledDeliveries(api, webhook, event);
    expect((await detailOf(webhook, row!)).request!.body.length).toBeLessThan(4000);
    await dataOf(api.updateWebhook(webhook.id, { format: 'cloudevents' }));
    await dataOf(api.redeliver(webhook.id, row!.id), 202);
    const calls = await hook.received(2);
    expect(calls[1]!.body.length).toBeGreaterThan(90_000);
  });

  it('holds for tests', async () => {
    const hook = receiver.hook();
    const webhook = await formatted(hook, 'teams');
    expect((await dataOf(api.testWebhook(webhook.id))).request).toMatchObject({ format: 'teams' });
    expect(JSON.parse(hook.calls[0]!.body.toString())).toMatchObject({ type: 'message' });
  });

  it('is kept by other changes, a PUT without it too, and null is native', async () => {
    const body = { url: 'https://example.com/', events: ['job.started'] };
    const { id } = await dataOf(api.saveWebhook('chat', { ...body, format: 'slack' }), 201);
    expect(await dataOf(api.updateWebhook(id, { description: 'x' }))).toMatchObject({ format: 'slack' });
    expect(await dataOf(api.saveWebhook('chat', body))).toMatchObject({ format: 'slack' });
    expect(await dataOf(api.saveWebhook('chat', { ...body, format: null }))).toMatchObject({ format: 'native' });
    expect(await dataOf(api.updateWebhook(id, { format: 'payload' }))).toMatchObject({ format: 'payload' });
    expect(await dataOf(api.updateWebhook(id, { format: null }))).toMatchObject({ format: 'native' });
    for (const format of ['SLACK', 'xml', 5, ['slack'], 'constructor'])
      await errorOf(api.updateWebhook(id, { format }), 400);
  });

  describe('preview', () => {
    const fieldsOf = async (reply: Promise<Reply<unknown>>) => {
      const refused = await reply;
      return refused.success || refused.details!.map(({ field }) => field);
    };

    it('shows an event of the request, mentions and markup as text', async () => {
      const data = { text: '<!channel> @everyone **bold** [a](https://b.example)\u202e' };
      const bodies: Record<string, string> = {};
      for (const format of CHATS) bodies[format] = (await dataOf(preview({ format, event: 'order.paid', data }))).body;
      expect(bodies.slack).toContain('text: &lt;!channel&gt; @everyone');
      expect((JSON.parse(bodies.discord!) as { content: string }).content).toContain(
        '\\<!channel\\> \\@everyone \\*\\*bold',
      );
      expect(bodies.teams).toContain('"type":"TextRun","text":"<!channel> @everyone');
      for (const body of Object.values(bodies)) expect(body).not.toContain('\u202e');
    });

    it('reads only events that are visible to the user', async () => {
      const event = await publish(api, 'job.started');
      const stranger = await service.apiFor('mallory');
      expect((await preview({ format: 'slack', eventId: event.id })).status).toBe(200);
      await errorOf(preview({ format: 'slack', eventId: event.id }, stranger), 404);
      await errorOf(preview({ format: 'slack', eventId: UNKNOWN_ID }), 404);
      const reader = api.withToken(await service.createToken('reader', ['webhooks:read']));
      await errorOf(preview({ format: 'slack', eventId: event.id }, reader), 403);
      expect((await preview({ format: 'slack', event: 'a.b', data: {} }, reader)).status).toBe(200);
    });

    it('lists all errors of its body at once', async () => {
      expect(await fieldsOf(preview({ format: 'xml', event: 'x y', more: 1 }))).toEqual([
        'more',
        'format',
        'event',
        'data',
      ]);
    });
  });
});

const bodyOf = (body: Buffer): [string, string] => {
  const { id, source } = JSON.parse(body.toString()) as { id: string; source: string };
  return [id, source];
};
