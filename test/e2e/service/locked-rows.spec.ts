import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Api, dataOf, exchange, type Reply } from '../../support/api';
import { openTransaction, type OpenTransaction } from '../../support/open-transaction';
import { useReceiver } from '../../support/receiver';
import { type Service, useService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { EXAMPLES } from '../stage/examples';
import { DECLARED_TYPE, routeRequest, ROUTES } from '../stage/route-requests';
import { publish, settledDeliveries, subscribe } from '../stage/steps';

const ROOT = join(__dirname, '../../..');

/** The promise to others, while a process and a database that nobody locks answer as usual. */
const WITHIN_MS = 1000;
const USUAL_MS = 100;
const SCOPES = [
  ...['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish', 'events:broadcast'],
  ...['messages:pull', 'accounts:manage', 'tokens:manage', 'event-types:manage', 'users:erase'],
];
const EVENT = { event: 'job.started', data: EXAMPLES['job.started'] };
const ERIN = 'erin';
/** Test receivers are in memory, and only where the service runs on its user's machine. */
const WITHOUT_ROWS = /^\w+ \/api\/try-receivers/;
/** How long after the lock the loops find something to do of its user. */
const SOON = `now() + interval '3 seconds'`;

/** The keys of all advisory locks of statements. */
const advisoryKeys = (user: string, webhookId: string): string[] => [
  ...['webhooks', 'tokens', 'accounts', 'sessions', 'notices'].map((what) => `${what} of ${user}`),
  ...[`erasure of ${ERIN}`, `test of ${webhookId}`, 'event types'],
];

describeOnStores('While another transaction holds every row and lock of a user', (store) => {
  const service = useService(() => ({
    ...store.settings(),
    // A share of one connection for each user.
    ...{ DATABASE_POOL_SIZE: '4', DELIVERY_TIMEOUT_MS: '1000', MAX_RETRIES: '1', RETRY_JITTER: '0' },
    DISABLE_AFTER_FAILURES: '1000',
  }));
  const receiver = useReceiver();
  const run = (sql: string, ...values: unknown[]) => service.database.query<{ name: string }>(sql, values);

  /** Gives a user something of everything that routes and loops change. */
  async function furnish(user: string, types: readonly string[] = []) {
    const api = await service.apiFor(user, SCOPES);
    const hook = receiver.hook();
    const push = await subscribe(api, hook, ['job.started', 'webhook.*'], { externalId: 'a' });
    const failing = await subscribe(api, receiver.hook({ status: 500 }), ['follower.lost'], { externalId: 'b' });
    const pull = await dataOf(api.createWebhook({ kind: 'pull', events: ['job.completed'] }), 201);
    const idle = await dataOf(api.createWebhook({ kind: 'pull', events: ['job.completed'], idleSeconds: 60 }), 201);
    const event = await publish(api, 'job.started');
    const [delivery] = await settledDeliveries(api, push, event);
    const [failed] = await settledDeliveries(api, failing, await publish(api, 'follower.lost'));
    await publish(api, 'job.completed', { idempotencyKey: 'once', subject: 'x' });
    const messages = await dataOf(api.lease(pull.id, { waitSeconds: 20 }));
    await publish(api, 'job.completed');
    const token = await dataOf(api.createToken({ name: 'x', scopes: ['webhooks:read'] }), 201);
    const account = await dataOf(api.createAccount({ provider: 'push', handle: user }), 201);
    await dataOf(api.putFollowers(account.id, { followers: [{ id: '1', username: 'one' }] }));
    for (const name of types) await dataOf(api.createEventType({ name, ...DECLARED_TYPE }), 201);
    const session = api.withToken((await dataOf(api.beginSession({}), 201)).token);
    await dataOf(api.createConsoleLink({}), 201);
    const recovery = await dataOf(api.recover(push.id, { since: event.createdAt }), 202);
    const ids = { push, failing, pull, idle, event, token, account, recovery, delivery: delivery!, failed: failed! };
    return { user, api, session, hook, messages, ...ids };
  }
  type Furnished = Awaited<ReturnType<typeof furnish>>;

  /** Gives the loops something to do of this user. */
  async function makeDue({ user, push, failing, pull, idle, event, delivery, messages }: Furnished): Promise<void> {
    await run(
      `update webhook_service.webhooks set failing_since = now(), told_at = ${SOON} - interval '1 minute' where id = $1`,
      failing.id,
    );
    await run(`update webhook_service.webhooks set created_at = now() - interval '1 hour' where id = $1`, idle.id);
    await run(
      `update webhook_service.recoveries set status = 'running', completed_at = null where webhook_id = $1`,
      push.id,
    );
    await run(
      `update webhook_service.deliveries set leased_until = ${SOON} where webhook_id = $1 and id = any($2)`,
      pull.id,
      messages.map(({ deliveryId }) => deliveryId),
    );
    await run(
      `update webhook_service.deliveries set status = 'pending', claimed = true, leased_until = ${SOON} where id = $1`,
      delivery.id,
    );
    await run(`update webhook_service.events set fanned_out_at = null, leased_until = ${SOON} where id = $1`, event.id);
    await run(`update webhook_service.console_links set code_expires_at = now() where user_id = $1`, user);
  }

  const requestOf = (route: string, { user, api, session, ...own }: Furnished) => {
    const { method, path, body } = routeRequest(route, {
      ...own,
      type: 'alice.opened',
      user: ERIN,
      erasureId: erasureOfCarol,
    });
    return () => (route === 'DELETE /api/console-sessions' ? session : api).call<unknown>(method, path, { body });
  };

  let alice: Furnished;
  let bob: Furnished;
  let erasureOfCarol: string;
  let foreign: OpenTransaction | undefined;

  beforeAll(async () => {
    await service.apiFor('carol');
    alice = await furnish('alice', ['alice.opened']);
    await makeDue(alice);
    erasureOfCarol = (await dataOf(service.api.eraseUser('carol'), 202)).id;
    const tables = await run(`
      select c.oid::regclass::text as name from pg_class c
      where c.relnamespace = 'webhook_service'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`);
    foreign = await openTransaction(
      service.database,
      ...tables.map(({ name }): [string, unknown[]] => [`select from ${name} for update`, []]),
      [
        'select pg_advisory_xact_lock(hashtextextended(key, 0)) from unnest($1::text[]) as key',
        [advisoryKeys('alice', alice.push.id)],
      ],
    );
    bob = await furnish('bob');
    await makeDue(bob);
  });
  afterAll(() => foreign?.end('rollback'));

  it('every route waits for at most one lock, and other users are served as usual', async () => {
    const others = bystander(bob.api, service);
    const waits = watch(foreign!);
    const answers = new Map<string, Reply<unknown>>();
    const waiting = new Map<string, number>();
    for (const route of ROUTES) {
      answers.set(route, await requestOf(route, alice)());
      waiting.set(route, await waits.count());
    }
    // Many at once, of the routes that wait and that have rules of their own.
    const pulls = Array.from({ length: 20 }, () => requestOf('POST /api/webhooks/{id}/messages/lease', alice)());
    const keyed = Array.from({ length: 20 }, (_, i) =>
      alice.api.publish({ ...EVENT, idempotencyKey: `many ${i % 2}` }),
    );
    await Promise.all([...pulls, ...keyed]);
    const seen = await others.end();
    // A user's share is one connection, so this one waits and no other.
    expect(await waits.end()).toHaveLength(1);

    const unexpected = [...answers].filter(([route, { status, headers, ...answer }]) => {
      const isBusy = status === 503 && 'code' in answer && answer.code === 'busy' && headers['retry-after'] === '1';
      return !(status < 300 || isBusy || (status === 404 && WITHOUT_ROWS.test(route)));
    });
    expect(unexpected).toEqual([]);
    // Each statement waits for at most a second (`lock_timeout`); one that waits ends the request.
    expect([...waiting].filter(([, statements]) => statements > 1)).toEqual([]);
    expect([...answers.values()].filter(({ status }) => status === 503).length).toBeGreaterThan(10);
    expect(seen.statuses).toEqual(['events 202', 'ready 200', 'webhooks 200']);
    expect([seen.longestMs > 0, seen.longestMs < WITHIN_MS]).toEqual([true, true]);
  });

  it('the loops go on for others, and never wait', async () => {
    const waits = watch(foreign!);
    await service.apiFor('dave');
    const { id } = await dataOf(service.api.eraseUser('dave'), 202);
    const isTrue = async (sql: string, ...values: unknown[]) =>
      (await run(`select 'x' as name where ${sql}`, ...values)).length > 0;
    const delivery = (condition: string) =>
      `exists (select from webhook_service.deliveries where id = $1 and ${condition})`;
    await waitFor(() => bob.hook.calls.length >= 2, { what: "the swept delivery of bob's" });
    await waitFor(() => isTrue(delivery(`status <> 'pending'`), bob.messages[0]!.deliveryId), {
      what: 'the end of a lease',
    });
    const isFannedOut = `exists (select from webhook_service.events where id = $1 and fanned_out_at is not null)`;
    await waitFor(() => isTrue(isFannedOut, bob.event.id), { what: 'the swept event' });
    const isRecovered = async () =>
      (await dataOf(bob.api.readRecovery(bob.push.id, bob.recovery.id))).status === 'done';
    await waitFor(isRecovered, { what: 'the recovery' });
    const isTold = () => bob.hook.calls.some(({ headers }) => headers['x-service-event'] === 'webhook.failing');
    await waitFor(isTold, { what: 'the notice' });
    const isCounted = `exists (select from webhook_service.attempt_counts where webhook_id = $1 and status = 'failed')`;
    await publish(alice.api, 'job.started');
    await waitFor(() => isTrue(isCounted, bob.failing.id), { what: 'the counts' });
    const isDeleted = `not exists (select from webhook_service.webhooks where id = $1)`;
    await waitFor(() => isTrue(isDeleted, bob.idle.id), { what: 'the end of the idle webhook' });
    const isErased = async () => (await dataOf(service.api.readErasure(id))).status === 'done';
    await waitFor(isErased, { what: 'the erasure' });
    expect(await waits.end()).toEqual([]);
    // Nothing of alice's has changed meanwhile.
    expect(await isTrue(isDeleted, alice.idle.id)).toBe(false);
    expect(await isTrue(delivery(`status = 'pending'`), alice.messages[0]!.deliveryId)).toBe(true);
  });

  it('covers every advisory lock of the service', () => {
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !/[.](spec|migration)[.]ts$/.test(path))
      .map((path) => readFileSync(join(ROOT, 'src', path), 'utf8'))
      .filter((text) => text.includes('hashtextextended'));
    const keys = sources.flatMap((text) => [...text.matchAll(/[`'](\w+ of|event types)\b(?= \$\{|',)/g)]);
    const known = advisoryKeys('', '').map((key) => key.replace(/(?<= of) .*/, ''));
    expect([...new Set(keys.map(([, key]) => key))].sort()).toEqual(known.sort());
    expect(sources.length).toBe(known.length);
  });

  it('every request that was refused succeeds afterwards', async () => {
    await foreign?.end('rollback');
    foreign = undefined;
    // Whatever the loops find of alice's is due again, and theirs.
    for (const route of ROUTES) {
      const send = requestOf(route, alice);
      const answer = await waitFor(
        async () => {
          const { status, headers, ...reply } = await send();
          return status !== 503 && { status, reply };
        },
        { what: route },
      );
      const isGood = answer.status < 300 || (answer.status === 404 && WITHOUT_ROWS.test(route));
      if (!isGood) expect([route, answer]).toEqual([route, 'a success']);
    }
  });
});

/** Watches which statements wait for a transaction, until `end`, which returns the most that did so at once. */
function watch(transaction: OpenTransaction) {
  let seen = new Set<string>();
  let most: string[] = [];
  let isOver = false;
  const look = async () => {
    const waiting = await transaction.waiting();
    for (const statement of waiting) seen.add(statement);
    if (waiting.length > most.length) most = waiting;
    return isOver;
  };
  const looking = waitFor(look, { what: 'the end of the locks', everyMs: 50 });
  return {
    /** How many statements have waited since this was last called. */
    count: async () => {
      await look();
      const { size } = seen;
      seen = new Set();
      return size;
    },
    end: async () => {
      isOver = true;
      await looking;
      return most;
    },
  };
}

/** Another user, and a load balancer, until `end`. Only moments count in which the machine is not busy with other things. */
function bystander(api: Api, { url, database }: Pick<Service, 'url' | 'database'>) {
  const statuses = new Set<string>();
  let longestMs = 0;
  let isOver = false;
  const timed = async <T>(call: Promise<T>): Promise<[T, number]> => {
    const begunAt = performance.now();
    return [await call, performance.now() - begunAt];
  };
  const repeat = (name: string, call: () => Promise<{ status: number }>) =>
    waitFor(
      async () => {
        const usual = () => Promise.all([exchange(url, 'GET', '/health/live'), database.query('select 1')]);
        const [, beforeMs] = await timed(usual());
        const [{ status }, ms] = await timed(call());
        const [, afterMs] = await timed(usual());
        statuses.add(`${name} ${status}`);
        if (Math.max(beforeMs, afterMs) < USUAL_MS) longestMs = Math.max(longestMs, ms);
        return isOver;
      },
      { what: 'the end of the locks', everyMs: 50 },
    );
  const all = [
    repeat('webhooks', () => api.listWebhooks()),
    repeat('events', () => api.publish(EVENT)),
    repeat('ready', () => exchange(url, 'GET', '/health/ready')),
  ];
  return {
    end: async () => {
      isOver = true;
      await Promise.all(all);
      return { statuses: [...statuses].sort(), longestMs };
    },
  };
}
