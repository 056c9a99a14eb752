import { version } from '../../../../package.json';
import { dataOf } from '../../../support/api';
import { useReceiver } from '../../../support/receiver';
import { useServiceProcess } from '../../../support/service';
import { cryptoSignature, opensslSignature, verifyStandardWebhook } from '../../../support/signatures';
import { describeOnStores } from '../../../support/stores';
import { EVENT_NAMES, EXAMPLES, ISO_UTC, UUID_V7 } from '../../stage/examples';
import { deleteWebhooks, publish, settledDeliveries, subscribe } from '../../stage/steps';

const SECRETS = [
  ['a plain secret', 'correct horse battery staple'],
  ['a secret of any script', 'пароль 🔑 şifre'],
];

describeOnStores('The first delivery', (store) => {
  const service = useServiceProcess(() => store.settings());
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(service.api));

  it.each(SECRETS)('is signed with %s so that openssl, node:crypto and standardwebhooks agree', async (_, secret) => {
    const hook = receiver.hook();
    await subscribe(service.api, hook, ['follower.gained'], { secret });
    const event = await publish(service.api, 'follower.gained');
    const [call] = await hook.received(1);
    expect(call!.headers['x-service-signature']).toBe(await opensslSignature(call!.body, secret!));
    expect(call!.headers['x-service-signature']).toBe(cryptoSignature(call!.body, secret!));
    expect(verifyStandardWebhook(call!, secret!)).toMatchObject({ id: event.id });
  });

  it('is signed with the generated secret when the user named none', async () => {
    const hook = receiver.hook();
    const { secret } = await subscribe(service.api, hook, ['follower.gained']);
    const event = await publish(service.api, 'follower.gained');
    const [call] = await hook.received(1);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(call!.headers['x-service-signature']).toBe(await opensslSignature(call!.body, secret));
    expect(verifyStandardWebhook(call!, secret)).toMatchObject({ id: event.id });
  });

  it('carries exactly the promised headers', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started'], { secret: 'eight or more' });
    const event = await publish(service.api, 'job.started');
    const [call] = await hook.received(1);
    const [delivery] = await settledDeliveries(service.api, webhook, event);
    const { host, connection, 'content-length': length, ...headers } = call!.headers;
    expect([host, connection]).toEqual([new URL(hook.url).host, expect.any(String)]);
    expect(length).toBe(String(call!.body.length));
    expect(headers).toEqual({
      'content-type': 'application/json',
      'user-agent': `webhook-notification-service/${version}`,
      'x-service-signature': expect.stringMatching(/^[0-9a-f]{64}$/),
      'x-service-event': 'job.started',
      'x-service-delivery': delivery!.id,
      'x-service-attempt': '1',
      'x-service-trigger': 'event',
      'webhook-id': event.id,
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
    expect(Math.abs(Number(headers['webhook-timestamp']) - call!.receivedAt / 1000)).toBeLessThan(10);
  });

  it('is a POST whose body has id, event, createdAt and data in this order', async () => {
    const hook = receiver.hook();
    await subscribe(service.api, hook, ['job.completed']);
    const { id, event, createdAt } = await publish(service.api, 'job.completed');
    const [call] = await hook.received(1);
    expect(call!.method).toBe('POST');
    expect(call!.body.toString()).toBe(JSON.stringify({ id, event, createdAt, data: EXAMPLES['job.completed'] }));
  });

  it('leaves one row in the log that tells how it went', async () => {
    const hook = receiver.hook({ status: 201 });
    const webhook = await subscribe(service.api, hook, ['job.started']);
    const event = await publish(service.api, 'job.started');
    const rows = await settledDeliveries(service.api, webhook, event);
    expect(rows).toEqual([
      {
        id: expect.stringMatching(UUID_V7),
        webhookId: webhook.id,
        eventId: event.id,
        event: 'job.started',
        attempt: 1,
        trigger: 'event',
        status: 'succeeded',
        subject: null,
        waitsFor: null,
        url: hook.url,
        responseStatus: 201,
        durationMs: expect.any(Number),
        error: null,
        scheduledAt: expect.stringMatching(ISO_UTC),
        attemptedAt: expect.stringMatching(ISO_UTC),
        completedAt: expect.stringMatching(ISO_UTC),
        nextAttemptAt: null,
        createdAt: expect.stringMatching(ISO_UTC),
      },
    ]);
  });

  it('can be read with what was sent and what came back', async () => {
    const hook = receiver.hook({ headers: { 'content-type': 'text/plain', 'X-Answer': 'yes' }, body: 'thank you' });
    const webhook = await subscribe(service.api, hook, ['operation.complete']);
    const event = await publish(service.api, 'operation.complete');
    const [row] = await settledDeliveries(service.api, webhook, event);
    const [call] = await hook.received(1);
    const { request, response, ...summary } = await dataOf(service.api.readDelivery(webhook.id, row!.id));
    const { host: _host, connection: _connection, 'content-length': _length, ...sent } = call!.headers;
    expect(summary).toEqual(row);
    expect(request).toEqual({ headers: expect.objectContaining(sent), body: call!.body.toString() });
    expect(response).toEqual({
      headers: expect.objectContaining({ 'content-type': 'text/plain', 'x-answer': 'yes' }),
      body: 'thank you',
      bodyTruncated: false,
    });
  });

  it('reaches a webhook for each of the six events, and no webhook of another event', async () => {
    const hooks = EVENT_NAMES.map((name) => ({ name, hook: receiver.hook() }));
    for (const { name, hook } of hooks) await subscribe(service.api, hook, [name]);
    for (const name of EVENT_NAMES) await publish(service.api, name);
    for (const { name, hook } of hooks) {
      const [call] = await hook.received(1);
      expect(JSON.parse(call!.body.toString())).toMatchObject({ event: name, data: EXAMPLES[name] });
    }
    expect(hooks.map(({ hook }) => hook.calls.length)).toEqual(EVENT_NAMES.map(() => 1));
  });

  it('leaves no secret, token, path, query or body in the logs', async () => {
    const hook = receiver.hook({ status: 500, body: 'answered-canary' }, { status: 200 });
    const url = `${hook.url}?key=query-canary`;
    const webhook = await subscribe(service.api, { url }, ['follower.lost'], { secret: 'secret-canary' });
    const event = await publish(service.api, 'follower.lost', {
      data: { ...EXAMPLES['follower.lost'], note: 'data-canary' },
    });
    await settledDeliveries(service.api, webhook, event);
    const leaks = [service.token, new URL(hook.url).pathname, 'canary'].filter((text) => service.logs().includes(text));
    expect(leaks).toEqual([]);
  });
});
