import { dataOf } from '../../support/api';
import { buildHost, type Host, startHost } from '../stage/host';
import { type Hook, useReceiver } from '../../support/receiver';
import { hasExited, type Service, startService } from '../../support/service';
import { describeWithRedis } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { subscribe } from '../stage/steps';

describeWithRedis('Another Nest application with the module of this package', (redisUrl) => {
  const host = buildHost();
  afterAll(() => host.remove());

  describe.each(['PostgreSQL', 'Redis'])('beside a service whose queues are on %s', (store) => {
    const receiver = useReceiver();
    let service: Service;
    let app: Host;
    let hook: Hook;

    const start = () =>
      startHost(host.entry, {
        DATABASE_URL: service.database.url,
        SERVICE_REDIS_URL: store === 'Redis' ? redisUrl() : undefined,
        HOST_REDIS_URL: redisUrl(),
      });

    beforeAll(async () => {
      service = await startService({
        REDIS_URL: store === 'Redis' ? redisUrl() : undefined,
        EXTRA_EVENT_TYPES: 'order.paid',
      });
      await service.database.query('create table orders (id text primary key)');
      app = await start();
    });
    afterAll(async () => {
      await app?.stop();
      expect(await service.stop()).toBe(0);
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

    it('hands its events on to the queue itself', async () => {
      const before = sweeps();
      await app.ask('POST', '/orders', { id: 'order 2', then: 'without transaction' });
      await hook.received(1);
      expect(app.logs()).not.toMatch(/left to the sweeper/);
      expect(sweeps()).toBe(before);
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
      expect([await ordersOf('order 6'), await eventsOf('order 6')]).toEqual([
        [expect.anything()],
        [expect.anything()],
      ]);
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

    it('gets nothing of the service but EventsService', async () => {
      expect(await app.ask('GET', '/surroundings')).toEqual({
        status: 200,
        body: { foreignParts: false, bullIsOnRedis: true },
      });
      for (const path of ['/api/webhooks', '/api/events', '/api/event-types', '/api/me', '/health/live', '/docs']) {
        expect(await app.ask('GET', path)).toMatchObject({ status: 404, body: { message: `Cannot GET ${path}` } });
      }
    });

    it('adds an event that users of the service can see and subscribe to', async () => {
      const types = await dataOf(service.api.eventTypes());
      expect(types.find(({ name }) => name === 'order.paid')).toMatchObject({ schema: { type: 'object' } });
    });

    it('ends cleanly when it is asked to', async () => {
      expect(await app.stop()).toBe('SIGTERM');
      app = await start();
    });
  });
});
