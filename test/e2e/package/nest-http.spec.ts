import { randomBytes } from 'node:crypto';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Pool } from 'pg';
import { defineEvent, type EventDefinition } from 'webhook-notification';
import {
  EventsService,
  fromDrizzle,
  http,
  outboxStatements,
  type Transaction,
  WebhookNotificationModule,
  WebhooksClient,
} from 'webhook-notification/nest';
import { dataOf, pageOf } from '../../support/api';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { type Hook, useReceiver } from '../../support/receiver';
import { freePort, type Service, type Settings, startService } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { type Gateway, startGateway } from '../stage/gateway';
import { subscribe } from '../stage/steps';

const OrderPaid = defineEvent({
  name: 'order.paid',
  description: 'An order was paid.',
  schema: { type: 'object', required: ['orderId'], properties: { orderId: { type: 'string', pattern: '^order ' } } },
  example: { orderId: 'order 42' },
});
interface StartOptions {
  connection?: Transaction;
  token?: () => string;
  table?: string;
  events?: EventDefinition[];
  url?: string;
}
interface Plan {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}
const SCOPES = ['events:publish', 'events:broadcast', 'event-types:manage'];

describe('A Nest application with a database of its own', () => {
  const receiver = useReceiver();
  let own: TestDatabase;
  let pool: Pool;
  let tables: TestDatabase;
  let settings: Settings;
  let service: Service;
  let token: string;
  let hook: Hook;
  let app: Awaited<ReturnType<typeof start>>;
  const warnings: string[] = [];

  async function start(more: StartOptions = {}) {
    const { connection = pool, table } = more;
    const transport = http({
      url: more.url ?? service.url,
      token: more.token ?? (() => token),
      outbox: { connection, ...(table !== undefined && { table }) },
    });
    const options = { application: 'shop', events: more.events ?? [OrderPaid], transport };
    @Module({ imports: [WebhookNotificationModule.forRoot(options)] })
    class AppModule {}
    const context = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    return { events: context.get(EventsService), client: context.get(WebhooksClient), close: () => context.close() };
  }

  beforeAll(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((message: unknown) => void warnings.push(String(message)));
    jest.spyOn(Logger.prototype, 'error').mockImplementation((message: unknown) => void warnings.push(String(message)));
    [own, tables] = await Promise.all([cloneDatabase(), cloneDatabase()]);
    pool = new Pool({ connectionString: own.url, max: 4 });
    settings = { PORT: String(await freePort()), SECRETS_KEY: randomBytes(32).toString('base64') };
    service = await startService(settings, tables);
    token = await service.createToken('shop', SCOPES);
    app = await start();
    const declared = async () => (await dataOf(service.api.eventTypes())).some(({ name }) => name === 'order.paid');
    await waitFor(declared, { what: 'the event type' });
  });
  afterAll(async () => {
    await app?.close();
    await pool?.end();
    await service?.stop();
    await Promise.all([own?.drop(), tables?.drop()]);
  });
  beforeEach(async () => {
    warnings.length = 0;
    hook = receiver.hook();
    await subscribe(await service.apiFor('alice'), hook, ['order.*']);
  });

  const waiting = () =>
    own.query<{ name: string; refused: string | null }>('select name, refused from webhook_outbox order by position');
  const empty = (what: string) => waitFor(async () => (await waiting()).length === 0, { what });
  const ordersAt = (from: Hook) =>
    from.calls.map(({ body }) => (JSON.parse(body.toString()) as { data: { orderId: string } }).data.orderId);
  const publish = (orderId: string, more: object = {}) =>
    app.events.publish(OrderPaid, { orderId }, { userId: 'alice', ...more });

  it('has its events known to the service, and publishes with its own transaction', async () => {
    const { id, createdAt } = await drizzle(pool).transaction(async (tx) => {
      const published = await publish('order 1', { tx: fromDrizzle(tx) });
      expect(await waiting()).toEqual([]);
      return published;
    });
    expect(id).toBeNull();
    expect(Math.abs(createdAt.getTime() - Date.now())).toBeLessThan(60_000);
    await hook.received(1);
    expect(ordersAt(hook)).toEqual(['order 1']);
    await empty('an empty outbox');
    const types = await dataOf(service.api.eventTypes());
    expect(types.find(({ name }) => name === 'order.paid')).toMatchObject({ source: 'module', application: 'shop' });
  });

  it('publishes with a subject through the outbox', async () => {
    const subject = `50 % "é" 🧾`;
    for (const each of [subject, null, undefined]) await publish('order 1', { subject: each });
    await expect(publish('order 1', { subject: 'a\n' })).rejects.toMatchObject({ status: 400 });
    const calls = await hook.received(3);
    const subjects = calls.map(({ body }) => (JSON.parse(body.toString()) as { subject?: string }).subject);
    expect(subjects.sort()).toEqual([subject, undefined, undefined]);
    await empty('an empty outbox');
  });

  it('adds the subject to an outbox of 0.3, or says who must', async () => {
    const table = 'public.former_outbox';
    const column = `select count(*)::int as count from pg_attribute
                    where attrelid = '${table}'::regclass and attname = 'subject' and not attisdropped`;
    for (const statement of outboxStatements(table).create.slice(0, 2)) await own.query(statement);
    const name = `former_${randomBytes(6).toString('hex')}`;
    const url = new URL(own.url);
    await own.query(
      `create role ${name} login password 'secret'; grant select, insert, update, delete on ${table} to ${name}`,
    );
    Object.assign(url, { username: name, password: 'secret' });
    const limited = new Pool({ connectionString: url.href, max: 1 });
    await expect(start({ connection: limited, table })).rejects.toThrow(
      /outbox migrate.*(must be owner|permission denied)/,
    );
    await limited.end();
    await own.query(`drop owned by ${name}; drop role ${name}`);
    expect(await own.query(column)).toEqual([{ count: 0 }]);
    await (await start({ table })).close();
    expect(await own.query(column)).toEqual([{ count: 1 }]);
  });

  it('has a client of the service where its events go', async () => {
    expect(await app.client.me()).toMatchObject({ userId: 'shop' });
  });

  it('publishes nothing that is rolled back', async () => {
    const failing = drizzle(pool).transaction(async (tx) => {
      await publish('order never', { tx: fromDrizzle(tx) });
      throw new Error('not after all');
    });
    await expect(failing).rejects.toThrow('not after all');
    await publish('order after it');
    await hook.received(1);
    expect(ordersAt(hook)).toEqual(['order after it']);
  });

  it('starts many times at once, and with a role that may not make tables', async () => {
    const table = 'public.started_outbox';
    const apps = await Promise.all(Array.from({ length: 6 }, () => start({ table })));
    await Promise.all(apps.map((each) => each.close()));
    const name = `limited_${randomBytes(6).toString('hex')}`;
    const url = new URL(own.url);
    await own.query(`create role ${name} login password 'secret'; revoke create on schema public from public;
      grant select, insert, update, delete on ${table} to ${name}`);
    Object.assign(url, { username: name, password: 'secret' });
    const limited = new Pool({ connectionString: url.href, max: 1 });
    const app = await start({ connection: limited, table });
    await app.close();
    await expect(start({ connection: limited, table: 'public.other_outbox' })).rejects.toThrow('permission denied');
    await limited.end();
    await own.query(`drop owned by ${name}; drop role ${name}`);
  });

  it('validates against the whole schema before it writes', async () => {
    await expect(publish('42')).rejects.toMatchObject({ status: 400, message: expect.stringContaining('pattern') });
    await expect(app.events.publish('order.lost' as never, {} as never, { userId: null })).rejects.toMatchObject({
      status: 400,
    });
    expect(await waiting()).toEqual([]);
  });

  it('publishes once with a key', async () => {
    for (let i = 0; i < 3; i++) await publish('order 2', { idempotencyKey: 'order 2 paid' });
    await empty('an empty outbox');
    await publish('order 3');
    await hook.received(2);
    expect(ordersAt(hook).sort()).toEqual(['order 2', 'order 3']);
  });

  it('loses and doubles nothing while the service is away, killed in the middle', async () => {
    const orders = Array.from({ length: 300 }, (_, i) => `order ${1000 + i}`);
    const publishing = (async () => {
      for (const [i, order] of orders.entries()) {
        await publish(order);
        if (i === 100) await service.stop('SIGKILL');
      }
    })();
    await publishing;
    expect((await waiting()).length).toBeGreaterThan(100);
    service = await startService(settings, tables);
    // What was being sent when the service was killed arrives twice, with the same id.
    await waitFor(() => new Set(ordersAt(hook)).size === orders.length, { what: 'every order' });
    await empty('an empty outbox');
    const ids = new Set(hook.calls.map(({ headers }) => headers['webhook-id']));
    expect(ids.size).toBe(orders.length);
    expect(new Set(ordersAt(hook))).toEqual(new Set(orders));
    expect(warnings.filter((message) => message.startsWith('The outbox is not relayed')).length).toBeLessThan(5);
  });

  it('doubles nothing when it fails between acceptance and deletion', async () => {
    let failures = 0;
    const failing: Transaction = {
      query: async (sql, parameters) => {
        if (sql.includes('delete from other_outbox') && (failures += 1) === 1) throw new Error('connection lost');
        return pool.query(sql, parameters);
      },
    };
    const other = await start({ connection: failing, table: 'other_outbox' });
    await other.events.publish(OrderPaid, { orderId: 'order twice' }, { userId: 'alice' });
    const left = () => own.query<{ name: string }>('select name from other_outbox');
    await waitFor(async () => failures > 1 && (await left()).length === 0, { what: 'the second deletion' });
    await other.close();
    await publish('order last');
    await waitFor(() => ordersAt(hook).includes('order last'), { what: 'the last order' });
    expect(ordersAt(hook).sort()).toEqual(['order last', 'order twice']);
  });

  it('sets refused events aside with the message of the service, and relays the others', async () => {
    await own.query(
      `insert into webhook_outbox (name, user_id, data, idempotency_key)
       values ('order.paid', 'alice', '{"orderId":"order before"}', 'before'), ('order.paid', 'alice', '{}', 'wrong'),
         ('order.lost', 'alice', '{}', 'unknown'), ('order.paid', 'alice', '{"orderId":"order behind"}', 'behind')`,
    );
    await hook.received(2);
    expect(ordersAt(hook).sort()).toEqual(['order before', 'order behind']);
    await waitFor(async () => (await waiting()).every(({ refused }) => refused !== null), { what: 'the refusals' });
    const refused = (await waiting()).map((row) => row.refused);
    expect(refused).toEqual([
      expect.stringContaining("'orderId'"),
      expect.stringContaining('no event named "order.lost"'),
    ]);
    expect(warnings.filter((message) => message.includes('is set aside'))).toHaveLength(2);
    await own.query('delete from webhook_outbox');
  });

  it('sets rows aside whose data is not JSON or would arrive as other data, and lets the others pass', async () => {
    await own.query(
      `insert into webhook_outbox (name, user_id, data, idempotency_key)
       values ('order.paid', 'alice', 'not json', 'broken'), ('order.paid', 'alice', '{"orderId":"order whole"}', 'whole'),
         ('order.paid', 'alice', '{"orderId":"a","cents":9007199254740993}', 'large'),
         ('order.paid', 'alice', '{"orderId":"a","orderId":"b"}', 'twice')`,
    );
    await hook.received(1);
    expect(ordersAt(hook)).toEqual(['order whole']);
    type Row = { position: string; refused: string };
    const [broken, ...others] = await own.query<Row>('select * from webhook_outbox order by position');
    expect([broken, ...others].map((row) => row?.refused)).toEqual([
      'its data is not JSON',
      'data.cents must not be beyond ±9007199254740991; send larger ones as strings',
      'data.orderId must occur only once in its object',
    ]);
    expect(warnings).toContain(
      `The event order.paid (${broken?.position} of the outbox) is set aside: its data is not JSON`,
    );
    await own.query('delete from webhook_outbox');
  });

  describe('behind a proxy', () => {
    let gateway: Gateway;
    let behind: Awaited<ReturnType<typeof start>>;
    const table = 'public.proxied_outbox';
    const kept = () => own.query<{ data: string; refused: string | null }>(`select data, refused from ${table}`);
    const send = (orderId: string) => behind.events.publish(OrderPaid, { orderId }, { userId: 'alice' });
    beforeAll(async () => {
      gateway = await startGateway(service.url);
      behind = await start({ table, url: gateway.url });
    });
    afterAll(async () => {
      await behind?.close();
      await gateway?.stop();
    });

    it.each([400, 403, 409, 413])('sets nothing aside because the proxy answers %i', async (status) => {
      gateway.refuse = (path) => (path.startsWith('/api/events') ? status : null);
      const names = [1, 2, 3].map((i) => `order ${i} despite ${status}`);
      for (const name of names) await send(name);
      await waitFor(() => warnings.some((said) => said.includes(`was answered ${status} with text/html`)), {
        what: 'the warning',
      });
      expect((await kept()).map(({ refused }) => refused)).toEqual([null, null, null]);
      gateway.refuse = () => null;
      await hook.received(3);
      expect(ordersAt(hook).sort()).toEqual(names);
      await waitFor(async () => (await kept()).length === 0, { what: 'an empty outbox' });
    });

    it('keeps an event that the proxy alone refuses, and lets those behind it pass', async () => {
      gateway.refuse = (_, body) => (body.includes('too long') ? 413 : null);
      await Promise.all(['order too long', 'order behind 1', 'order behind 2'].map(send));
      await hook.received(2);
      expect(ordersAt(hook).sort()).toEqual(['order behind 1', 'order behind 2']);
      await waitFor(async () => (await kept()).length === 1, { what: 'the others to be removed' });
      expect(await kept()).toEqual([{ data: '{"orderId":"order too long"}', refused: null }]);
      await own.query(`delete from ${table}`);
    });

    it('declares its types as soon as the proxy lets it', async () => {
      gateway.refuse = (path) => (path.startsWith('/api/event-types') ? 400 : null);
      const late = { ...OrderPaid, name: 'order.late' };
      const app = await start({ table, url: gateway.url, events: [late] });
      await waitFor(() => warnings.some((said) => said.includes('are not declared yet')), { what: 'the warning' });
      gateway.refuse = () => null;
      const names = async () => (await dataOf(service.api.eventTypes())).map(({ name }) => name);
      await waitFor(async () => (await names()).includes('order.late'), { what: 'the event type' });
      await app.close();
    });
  });

  it('goes on with another token when the one it had was revoked, without a restart', async () => {
    const before = token;
    const { rows } = await pageOf(service.api.listTokens({ userId: 'shop' }));
    for (const { id } of rows) await dataOf(service.api.revokeToken(id));
    await publish('order with the old token');
    await waitFor(() => warnings.some((message) => message.startsWith('The outbox is not relayed')), {
      what: 'the warning',
    });
    expect(warnings.join()).not.toContain(before);
    token = await service.createToken('shop', SCOPES);
    await hook.received(1);
    expect(ordersAt(hook)).toEqual(['order with the old token']);
  });

  it('says as whom it relays, when that is somebody else than before', async () => {
    await own.query('create table relayed_outbox (like webhook_outbox including all)');
    await own.query(
      `insert into relayed_outbox (name, user_id, data, idempotency_key, relayed_as)
       values ('order.paid', 'alice', '{"orderId":"order of two"}', 'of two', 'somebody')`,
    );
    const other = await start({ table: 'relayed_outbox' });
    await hook.received(1);
    expect(warnings).toEqual([
      expect.stringMatching(/^The token publishes as shop, and events that wait were relayed as somebody: /),
    ]);
    await other.close();
  });

  it('starts when its types belong to another user, warns, and publishes with the stored ones', async () => {
    const other = await service.createToken('intruder', SCOPES);
    const changed = { ...OrderPaid, description: 'Changed.', schema: { type: 'object' as const } };
    const intruder = await start({ token: () => other, table: 'public.other_outbox', events: [changed] });
    await waitFor(() => warnings.some((said) => said.startsWith('The event order.paid is not declared: ')), {
      what: 'the warning',
    });
    expect(warnings.join()).toContain('The application shop belongs to another user');
    await intruder.events.publish(changed, { orderId: 'order of the intruder' }, { userId: 'alice' });
    await hook.received(1);
    await intruder.close();
    const [stored] = await tables.query<{ description: string; declared_by: string }>(
      "select description, declared_by from webhook_service.event_types where name = 'order.paid'",
    );
    expect(stored).toEqual({ description: 'An order was paid.', declared_by: 'shop' });
  });

  it('relays the oldest of a million first, without looking at all', async () => {
    const { create, claim, remove, relayedAs } = outboxStatements('long_outbox');
    for (const statement of create) await own.query(statement);
    await own.query(
      `insert into long_outbox (name, user_id, data, idempotency_key, refused)
       select 'order.paid', 'alice', '{}', i::text, case when i % 10 = 0 then 'for the test' end
       from generate_series(1, 1000000) as i`,
    );
    await own.query('analyze long_outbox');
    for (const [sql, parameters] of [
      [relayedAs, []],
      [claim, ['shop']],
      [remove, [JSON.stringify(Array.from({ length: 100 }, (_, i) => String(i + 1)))]],
    ] as const) {
      const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `explain (analyze, buffers, format json) ${sql}`,
        [...parameters],
      );
      const { Plan } = rows[0]!['QUERY PLAN'][0];
      expect(JSON.stringify(Plan)).not.toMatch(/"Seq Scan"[^{}]*"long_outbox"/);
      expect(Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks']).toBeLessThan(3000);
    }
    const { rows } = await pool.query<{ position: string }>(claim, ['shop']);
    expect(rows.map(({ position }) => Number(position))).toEqual(
      Array.from({ length: 112 }, (_, i) => i + 112)
        .filter((position) => position % 10 !== 0)
        .slice(0, 100),
    );
    await own.query('drop table long_outbox');
  });
});

describe('The name of an outbox', () => {
  it.each(['Outbox', 'a b', 'a.b.c', '', '1a', 'a;drop table b', 'x'.repeat(61)])('cannot be %p', (name) => {
    expect(() => outboxStatements(name)).toThrow(TypeError);
  });

  it('may have a schema', () => expect(outboxStatements('shop.outbox').write).toContain('into shop.outbox'));
});
