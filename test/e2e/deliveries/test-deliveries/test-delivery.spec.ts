import { dataOf, errorOf, pageOf } from '../../../support/api';
import { useReceiver } from '../../../support/receiver';
import { freePort, useService } from '../../../support/service';
import { cryptoSignature, verifyStandardWebhook } from '../../../support/signatures';
import { EVENT_NAMES, ISO_UTC, UUID_V7 } from '../../stage/examples';
import { deleteWebhooks, publish, settledDeliveries, subscribe } from '../../stage/steps';

describe('Testing a webhook', () => {
  const service = useService({ DELIVERY_TIMEOUT_MS: '20000' });
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(service.api));

  it('sends webhook.test at once and answers the whole delivery record', async () => {
    const hook = receiver.hook({ status: 202, body: 'got it' });
    const webhook = await subscribe(service.api, hook, ['job.started'], { secret: 'a secret of mine' });
    const record = await dataOf(service.api.testWebhook(webhook.id));
    expect(hook.calls).toHaveLength(1);
    const [call] = hook.calls;
    expect(record).toEqual({
      id: call!.headers['x-service-delivery'],
      webhookId: webhook.id,
      eventId: expect.stringMatching(UUID_V7),
      event: 'webhook.test',
      attempt: 1,
      trigger: 'test',
      status: 'succeeded',
      subject: null,
      waitsFor: null,
      url: hook.url,
      responseStatus: 202,
      durationMs: expect.any(Number),
      error: null,
      scheduledAt: expect.stringMatching(ISO_UTC),
      attemptedAt: expect.stringMatching(ISO_UTC),
      completedAt: expect.stringMatching(ISO_UTC),
      nextAttemptAt: null,
      createdAt: expect.stringMatching(ISO_UTC),
      request: { headers: expect.any(Object), body: call!.body.toString() },
      response: { headers: expect.any(Object), body: 'got it', bodyTruncated: false },
    });
    expect(await dataOf(service.api.readDelivery(webhook.id, record.id))).toEqual(record);
  });

  it('sends a signed body that is no different from that of an event', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started'], { secret: 'a secret of mine' });
    const { eventId } = await dataOf(service.api.testWebhook(webhook.id));
    const [call] = await hook.received(1);
    expect(call!.headers).toMatchObject({
      'x-service-signature': cryptoSignature(call!.body, 'a secret of mine'),
      'x-service-event': 'webhook.test',
      'x-service-trigger': 'test',
      'x-service-attempt': '1',
      'webhook-id': eventId,
    });
    const body = JSON.parse(call!.body.toString());
    expect(body).toEqual({
      id: eventId,
      event: 'webhook.test',
      createdAt: expect.stringMatching(ISO_UTC),
      data: { webhookId: webhook.id, message: expect.any(String) },
    });
    expect(Object.keys(body)).toEqual(['id', 'event', 'createdAt', 'data']);
    expect(verifyStandardWebhook(call!, 'a secret of mine')).toEqual(body);
  });

  it.each([...EVENT_NAMES, 'webhook.failing', 'webhook.healthy'])(
    "sends the catalogue's example of %s, subscribed or not",
    async (event) => {
      const hook = receiver.hook();
      const { id } = await subscribe(service.api, hook, ['webhook.disabled']);
      expect(await dataOf(service.api.testWebhook(id, { event }))).toMatchObject({ event, trigger: 'test' });
      const [call] = await hook.received(1);
      const type = (await dataOf(service.api.eventTypes())).find(({ name }) => name === event);
      expect(JSON.parse(call!.body.toString())).toMatchObject({ event, data: type!.example });
    },
  );

  it('works for a webhook that is inactive', async () => {
    const { id } = await subscribe(service.api, receiver.hook(), ['job.started'], { active: false });
    expect(await dataOf(service.api.testWebhook(id))).toMatchObject({ status: 'succeeded' });
    expect(await dataOf(service.api.readWebhook(id))).toMatchObject({ active: false });
  });

  it('answers 200 with the failure when the receiver is unhappy, and neither retries nor counts it', async () => {
    const hook = receiver.hook({ status: 500, body: 'oops' });
    const { id } = await subscribe(service.api, hook, ['job.started']);
    const record = await dataOf(service.api.testWebhook(id));
    expect(record).toMatchObject({
      status: 'failed',
      responseStatus: 500,
      error: { code: 'http_status', message: expect.any(String) },
      nextAttemptAt: null,
      response: { body: 'oops' },
    });
    const { rows } = await pageOf(service.api.listDeliveries(id));
    expect(rows.map((row) => row.id)).toEqual([record.id]);
    expect(await dataOf(service.api.readWebhook(id))).toMatchObject({ consecutiveFailures: 0, active: true });
    expect(hook.calls).toHaveLength(1);
  });

  it('answers 200 with the failure when nobody listens', async () => {
    const { id } = await subscribe(service.api, { url: `http://127.0.0.1:${await freePort()}/` }, ['job.started']);
    expect(await dataOf(service.api.testWebhook(id))).toMatchObject({
      status: 'failed',
      responseStatus: null,
      error: { code: 'connection_refused' },
      request: { body: expect.any(String) },
      response: null,
    });
  });

  it('runs once at a time for a webhook, and the next one after that', async () => {
    let release: () => void = () => undefined;
    const held = receiver.hook({ after: new Promise<void>((resolve) => (release = resolve)) });
    const [one, other] = [
      await subscribe(service.api, held, ['job.started']),
      await subscribe(service.api, receiver.hook(), ['job.started']),
    ];
    const first = dataOf(service.api.testWebhook(one.id));
    await held.received(1);
    try {
      expect(await errorOf(service.api.testWebhook(one.id), 'test_running')).toMatch(/test/i);
      await dataOf(service.api.testWebhook(other.id));
    } finally {
      release();
    }
    expect(await first).toMatchObject({ status: 'succeeded' });
    await dataOf(service.api.testWebhook(one.id));
    expect(held.calls).toHaveLength(2);
  });

  it('refuses an event that nobody knows, and unknown fields', async () => {
    const { id } = await subscribe(service.api, receiver.hook(), ['job.started']);
    expect(await errorOf(service.api.testWebhook(id, { event: 'no.such_event' }), 400)).toContain('no.such_event');
    expect(await errorOf(service.api.testWebhook(id, { event: 5 }), 400)).toMatch(/event/);
    expect(await errorOf(service.api.testWebhook(id, { evnt: 'job.started' }), 400)).toContain('evnt');
  });

  it('reaches no other subscriber and is not listed among the events', async () => {
    const bystander = receiver.hook();
    const witness = await subscribe(service.api, bystander, ['*']);
    const { id } = await subscribe(service.api, receiver.hook(), ['job.started']);
    const { eventId } = await dataOf(service.api.testWebhook(id, { event: 'follower.lost' }));
    await settledDeliveries(service.api, witness, await publish(service.api, 'job.completed'));
    expect(bystander.calls.map(({ headers }) => headers['x-service-event'])).toEqual(['job.completed']);
    expect((await pageOf(service.api.listEvents())).rows.map((row) => row.id)).not.toContain(eventId);
  });
});
