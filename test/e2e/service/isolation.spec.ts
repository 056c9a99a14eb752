import { once } from 'node:events';
import { connect } from 'node:net';
import { type Api, dataOf, exchange } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { waitFor } from '../../support/wait-for';

/** Ten times what was measured. */
const WITHIN_MS = 5000;
const STARTED = { queue: 'films', jobId: '1', name: 'render', attempt: 1, startedAt: '2026-11-20T10:00:00.000Z' };
const PUSH = { provider: 'push', handle: 'my shop' };
const follower = (n: number) => ({ id: `${n}`, username: `user ${n}` });
const followersFrom = (first: number, count: number) => Array.from({ length: count }, (_, i) => follower(first + i));

/** What another user saw. */
interface Seen {
  /** The statuses, each once, with the route. */
  statuses: string[];
  slowestMs: number;
}

describe('One user against the others', () => {
  const receiver = useReceiver();
  const service = useService({
    DATABASE_POOL_SIZE: '10',
    RATE_LIMIT_PER_MINUTE: '600',
    PUBLISH_LIMIT_PER_MINUTE: '6000',
    DELIVERY_TIMEOUT_MS: '2000',
  });
  let users = 0;

  /** A user of his own, so that his limits are whole. */
  const newUser = (...scopes: string[]): Promise<Api> =>
    service.apiFor(`user-${(users += 1)}`, scopes.length ? scopes : undefined);

  /**
   * What another user and a load balancer see while the attack lasts. They look ten times a second.
   * @param attack gets a function that waits until they have looked so many times more
   */
  async function seenDuring(
    attack: (attacker: Api, looks: (count: number) => Promise<unknown>) => Promise<unknown>,
    ...scopes: string[]
  ): Promise<Seen> {
    const [other, attacker] = await Promise.all([newUser(), newUser(...scopes)]);
    const seen: Seen = { statuses: [], slowestMs: 0 };
    const statuses = new Set<string>();
    const take = async (what: string, call: Promise<{ status: number }>) => {
      const before = performance.now();
      statuses.add(`${what} ${(await call).status}`);
      seen.slowestMs = Math.max(seen.slowestMs, performance.now() - before);
    };
    let [isOver, looked] = [false, 0];
    const looks = (count: number) => {
      const wanted = looked + count;
      return waitFor(() => looked >= wanted, { what: `${count} looks`, timeoutMs: 30_000 });
    };
    const attacked = attack(attacker, looks).finally(() => (isOver = true));
    for (let nextAt = performance.now(); !isOver; nextAt += 100) {
      await waitFor(() => performance.now() >= nextAt, { what: 'the next look' });
      await Promise.all([
        take('list', other.listWebhooks()),
        take('publish', other.publish({ event: 'job.started', data: STARTED })),
        take('ready', exchange(service.url, 'GET', '/health/ready')),
      ]);
      looked += 1;
    }
    await attacked;
    return { ...seen, statuses: [...statuses].sort() };
  }

  const UNHARMED: unknown = { statuses: ['list 200', 'publish 202', 'ready 200'], slowestMs: expect.any(Number) };

  function expectUnharmed(seen: Seen): void {
    expect(seen).toEqual(UNHARMED);
    expect(seen.slowestMs).toBeLessThan(WITHIN_MS);
  }

  it('who pushes a long list of followers, and many short ones behind it', async () => {
    expectUnharmed(
      await seenDuring(async (attacker) => {
        const { id } = await dataOf(attacker.createAccount(PUSH), 201);
        await dataOf(attacker.putFollowers(id, { followers: [follower(0)] }));
        const lists = [followersFrom(1, 5000), ...Array.from({ length: 14 }, (_, i) => followersFrom(i, 1))];
        const replies = await Promise.all(lists.map((followers) => attacker.putFollowers(id, { followers })));
        // Their changes count as events that he publishes.
        expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 429]));
      }, 'accounts:manage'),
    );
  });

  it.each([
    ['of objects', `{"followers":[${'{},'.repeat(5_500_000)}{}]}`],
    ['of brackets', `{"followers":${'['.repeat(8_000_000)}${']'.repeat(8_000_000)}}`],
  ])('who sends the largest bodies %s, without the scope for them and with it', async (_, body) => {
    const send = async (api: Api) =>
      (await api.call('PUT', '/api/accounts/01a203c6-9f76-7389-92d7-0f609e1e7a4b/followers', { rawBody: body })).status;
    expectUnharmed(
      await seenDuring(async (attacker) => {
        const owner = await newUser('accounts:manage');
        expect([await send(attacker), await send(owner)]).toEqual([403, 400]);
      }, 'webhooks:read'),
    );
  });

  it('who uploads large bodies slowly, on many connections', async () => {
    const token = await service.createToken({ user: 'uploader', scopes: ['events:publish'] });
    const { port } = new URL(service.url);
    const head = [
      'POST /api/events/batch HTTP/1.1',
      'host: localhost',
      `authorization: Bearer ${token}`,
      'content-type: application/json',
      'content-length: 9000000',
    ].join('\r\n');
    expectUnharmed(
      await seenDuring(async (_, looks) => {
        const sockets = Array.from({ length: 100 }, () =>
          connect(Number(port), '127.0.0.1').on('error', () => undefined),
        );
        await Promise.all(sockets.map((socket) => once(socket, 'connect')));
        for (const socket of sockets) socket.write(`${head}\r\n\r\n{"events":[`);
        for (let i = 0; i < 10; i++) {
          for (const socket of sockets) socket.write(' '.repeat(10_000));
          await looks(1);
        }
        for (const socket of sockets) socket.destroy();
      }),
    );
  });

  it('who switches a webhook on and off while its pending deliveries are canceled', async () => {
    const hook = receiver.hook();
    expectUnharmed(
      await seenDuring(async (attacker) => {
        const { id } = await dataOf(attacker.createWebhook({ url: hook.url, events: ['*'] }), 201);
        await service.database.query(
          `with event as (
             insert into webhook_service.events (id, name, user_id, body, fanned_out_at)
             select overlay($1::uuid::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, 'job.started', 'x', '{}', now()
             from generate_series(1, 10000) as n returning id
           )
           insert into webhook_service.deliveries
             (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until)
           select id, $1, 'x', id, 'job.started', $2, 1, 'event', 'pending', now(), now() + interval '1 hour' from event`,
          [id, hook.url],
        );
        const patches = Array.from({ length: 40 }, (_, i) => attacker.updateWebhook(id, { active: i % 2 === 1 }));
        expect(new Set((await Promise.all(patches)).map(({ status }) => status))).toEqual(new Set([200]));
      }),
    );
  });

  it('whose webhooks are locked for long', async () => {
    const hook = receiver.hook({ status: 410 });
    expectUnharmed(
      await seenDuring(async (attacker, looks) => {
        const { id } = await dataOf(attacker.createWebhook({ url: hook.url, events: ['*'] }), 201);
        await service.database.query('begin');
        try {
          await service.database.query('select from webhook_service.webhooks where id = $1 for update', [id]);
          const events = Array.from({ length: 50 }, () => ({ event: 'job.started', data: STARTED }));
          await dataOf(attacker.publishBatch({ events }), 202);
          const changes = Array.from({ length: 30 }, () => attacker.updateWebhook(id, { description: 'x' }));
          await hook.received(20);
          await looks(10);
          await service.database.query('commit');
          await Promise.all(changes);
        } finally {
          await service.database.query('rollback');
        }
      }),
    );
  });

  it('who tests a silent receiver, recovers and reads as often as he may', async () => {
    const hook = receiver.hook({ after: new Promise(() => undefined) });
    expectUnharmed(
      await seenDuring(async (attacker) => {
        const made = Array.from({ length: 20 }, () => attacker.createWebhook({ url: hook.url, events: ['*'] }));
        const webhooks = await Promise.all(made.map((each) => dataOf(each, 201)));
        const since = '2026-01-01T00:00:00Z';
        const replies = await Promise.all([
          ...webhooks.map(({ id }) => attacker.testWebhook(id)),
          ...webhooks.map(({ id }) => attacker.recover(id, { since })),
          ...Array.from({ length: 200 }, () => attacker.listAllDeliveries({ status: 'failed', limit: '250', since })),
          ...Array.from({ length: 100 }, () => attacker.listEvents({ limit: '250', since })),
        ]);
        expect(replies.filter(({ status }) => status >= 500)).toEqual([]);
      }),
    );
  });

  it('still delivers what was published meanwhile', async () => {
    const [api, hook] = [await newUser(), receiver.hook()];
    await dataOf(api.createWebhook({ url: hook.url, events: ['*'] }), 201);
    await dataOf(api.publish({ event: 'job.started', data: STARTED }), 202);
    await waitFor(() => hook.calls.length === 1, { what: 'the delivery' });
  });
});
