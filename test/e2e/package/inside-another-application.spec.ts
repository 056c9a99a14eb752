import { buildHost, type Host, startHost } from '../stage/host';
import { type Hook, useReceiver } from '../../support/receiver';
import { startRedis, type TestRedis } from '../../support/redis';
import { freePort, hasExited, type Service, type Settings, startService } from '../../support/service';
import { describeWithRedis } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { subscribe } from '../stage/steps';

describeWithRedis('Another Nest application with the library, on Express', (redisUrl) => {
  const host = buildHost();
  let own: TestRedis;

  const receiver = useReceiver();
  let service: Service;
  let app: Host;
  let hook: Hook;

  const start = (settings: Settings = {}) =>
    startHost(host.entry, {
      DATABASE_URL: service.database.url,
      SERVICE_REDIS_URL: redisUrl(),
      HOST_REDIS_URL: own.url,
      ...settings,
    });

  beforeAll(async () => {
    own = await startRedis();
    service = await startService({ REDIS_URL: redisUrl() });
    await service.database.query('create table orders (id text primary key)');
    app = await start();
  });
  afterAll(async () => {
    await app?.stop();
    expect(await service.stop()).toBe(0);
    await own.stop();
    host.remove();
  });
  beforeEach(async () => {
    hook = receiver.hook();
    await subscribe(await service.apiFor('alice'), hook, ['order.*']);
  });

  const ordersOf = (id: string) => service.database.query('select id from orders where id = $1', [id]);
  const eventsOf = (id: string) =>
    service.database.query("select id from webhook_service.events where body::jsonb -> 'data' ->> 'orderId' = $1", [
      id,
    ]);
  /** How many sweeps have found something. */
  const sweeps = () => service.logs().match(/"msg":"swept"/g)?.length ?? 0;
  const dataAt = (from: Hook) => from.calls.map(({ body }) => JSON.parse(body.toString()).data as unknown);

  /** Lets the host begin an order in which it is killed, and starts it again. */
  async function killedIn(id: string, then: string): Promise<void> {
    const cut = app.ask('POST', '/orders', { id, then }).then(
      () => 'answered',
      () => 'cut off',
    );
    expect(await cut).toBe('cut off');
    await waitFor(() => hasExited(app.child), { what: 'the end of the host' });
    expect(app.child.signalCode).toBe('SIGKILL');
    app = await start();
  }

  it('publishes with its own transaction', async () => {
    const { status, body } = await app.ask('POST', '/orders', { id: 'order 1' });
    expect(status).toBe(201);
    const [call] = await hook.received(1);
    expect(JSON.parse(call!.body.toString())).toMatchObject({
      id: (body as { eventId: string }).eventId,
      event: 'order.paid',
      data: { orderId: 'order 1' },
    });
    expect(await ordersOf('order 1')).toHaveLength(1);
  });

  it.each(['', 'without transaction'])('tells the workers itself %s', async (then) => {
    const before = sweeps();
    for (let i = 1; i <= 5; i++) {
      await app.ask('POST', '/orders', { id: `order told ${then} ${i}`, ...(then && { then }) });
      await hook.received(i);
    }
    // A sweep may come between a commit and the workers, but not each time.
    expect(sweeps() - before).toBeLessThan(4);
    expect(app.logs()).not.toMatch(/WARN/);
  });

  it('rolls its event back with its own transaction', async () => {
    expect((await app.ask('POST', '/orders', { id: 'order 3', then: 'rollback' })).status).toBe(500);
    expect([await ordersOf('order 3'), await eventsOf('order 3')]).toEqual([[], []]);
  });

  it('leaves neither order nor event when it is killed between insert and commit', async () => {
    await killedIn('order 4', 'die before commit');
    await app.ask('POST', '/orders', { id: 'order 5' });
    await hook.received(1);
    expect(dataAt(hook)).toEqual([{ orderId: 'order 5' }]);
    expect([await ordersOf('order 4'), await eventsOf('order 4')]).toEqual([[], []]);
  });

  it('leaves both when it is killed between commit and queue, and the service delivers', async () => {
    const before = sweeps();
    await killedIn('order 6', 'die after commit');
    expect([await ordersOf('order 6'), await eventsOf('order 6')]).toEqual([[expect.anything()], [expect.anything()]]);
    await hook.received(1);
    expect(dataAt(hook)).toEqual([{ orderId: 'order 6' }]);
    // A sweep tells of itself when it ends: what it found may have been delivered by then.
    await waitFor(() => sweeps() > before, { what: 'the line of the sweep' });
  });

  it('keeps its own guard, pipe and answers', async () => {
    expect(await app.ask('POST', '/orders', { id: 'order 7' }, {})).toEqual({
      status: 403,
      body: { statusCode: 403, message: 'Forbidden resource', error: 'Forbidden' },
    });
    expect(await app.ask('POST', '/orders', { id: 7 })).toEqual({
      status: 400,
      body: { statusCode: 400, message: ['id must be a string'], error: 'Bad Request' },
    });
  });

  it('keeps its own BullMQ: connection, prefix and backend', async () => {
    await app.ask('POST', '/mails', { to: 'ada' });
    const sent = () => app.ask('GET', '/mails').then(({ body }) => body);
    await waitFor(async () => JSON.stringify(await sent()) === '[{"to":"ada"}]', { what: 'the mail' });
  });

  it('gets no routes of the service, and keeps the backend of BullMQ', async () => {
    expect(await app.ask('GET', '/backend')).toEqual({ status: 200, body: { bullIsOnRedis: true } });
    for (const path of ['/api/webhooks', '/api/events', '/api/event-types', '/api/me', '/health/live', '/docs']) {
      expect(await app.ask('GET', path)).toMatchObject({ status: 404, body: { message: `Cannot GET ${path}` } });
    }
  });

  it('reaches the API of the service where it says where that is', async () => {
    expect(await app.ask('GET', '/users/me')).toMatchObject({ status: 500 });
    const told = () => /Nobody knows where the service is: give WebhookNotificationModule service: {/.test(app.logs());
    await waitFor(told, { what: 'the message' });
    const SERVICE_TOKEN = await service.createToken('shop', ['users:manage', 'tokens:manage', 'webhooks:read']);
    const other = await start({ SERVICE_URL: service.url, SERVICE_TOKEN });
    expect(await other.ask('GET', '/users/me')).toMatchObject({ status: 200, body: { userId: 'shop' } });
    const { body } = await other.ask('POST', '/users/link', { userId: 'alice' });
    expect((body as { url: string }).url).toMatch(/^\/console\/webhooks#code=/);
    await other.stop();
  });

  it('ends cleanly when it is asked to, and when it does not listen to that', async () => {
    expect(await app.stop()).toBe('SIGTERM');
    app = await start({ SHUTDOWN_HOOKS: 'off' });
    await app.ask('POST', '/orders', { id: 'order 8' });
    expect(await app.stop()).toBe('SIGTERM');
    await hook.received(1);
    expect(dataAt(hook)).toEqual([{ orderId: 'order 8' }]);
    app = await start();
  });

  it('works without the Redis of the service, and says so once', async () => {
    const away = await start({ SERVICE_REDIS_URL: `redis://127.0.0.1:${await freePort()}` });
    await away.ask('POST', '/orders', { id: 'order 9' });
    await away.ask('POST', '/orders', { id: 'order 10' });
    await hook.received(2);
    // One look may find both: then they are sent at the same time.
    expect(new Set(dataAt(hook))).toEqual(new Set([{ orderId: 'order 9' }, { orderId: 'order 10' }]));
    expect(away.logs().match(/The service finds events by itself/g)).toHaveLength(1);
    expect(await away.stop()).toBe('SIGTERM');
  });
});
