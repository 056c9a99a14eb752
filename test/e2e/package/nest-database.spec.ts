import { randomUUID } from 'node:crypto';
import { subscribe as listen, unsubscribe } from 'node:diagnostics_channel';
import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { defineEvent } from 'webhook-notification';
import {
  database,
  EventRefusedError,
  EventsService,
  fromDrizzle,
  fromKysely,
  PUBLISHED_CHANNEL,
  type Transaction,
  WebhookNotificationModule,
  type WebhookNotificationOptions,
} from 'webhook-notification/nest';
import { z } from 'zod';
import { pgTransaction } from '../../support/pg-transaction';
import { type Api, dataOf } from '../../support/api';
import { type Hook, useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { subscribe } from '../stage/steps';

const OrderPaid = defineEvent({
  name: 'order.paid',
  description: 'An order was paid.',
  schema: z.object({ orderId: z.string().regex(/^order /), note: z.string().optional() }),
  example: { orderId: 'order 42' },
});

const ALICE = { userId: 'alice' };
const VALID = { orderId: 'order 1' };

@Injectable()
class OrdersService {
  constructor(readonly events: EventsService) {}
}

/** Whatever the application uses, the same four things have to work. */
interface Way {
  title: string;
  /** Runs in a transaction; what it throws rolls it back. */
  inTransaction(pool: Pool, source: DataSource, work: (tx: Transaction) => Promise<unknown>): Promise<unknown>;
}

const WAYS: Way[] = [
  { title: 'an EntityManager of TypeORM', inTransaction: (_, source, work) => source.transaction(work) },
  {
    title: 'a client of pg',
    inTransaction: (pool, _, work) => pgTransaction(pool, work),
  },
  { title: 'drizzle', inTransaction: (pool, _, work) => drizzle(pool).transaction((tx) => work(fromDrizzle(tx))) },
  {
    title: 'kysely',
    inTransaction: (pool, _, work) =>
      new Kysely({ dialect: new PostgresDialect({ pool }) }).transaction().execute((tx) => work(fromKysely(tx))),
  },
];

describe('A Nest application on the database of the service', () => {
  let pool: Pool;
  let source: DataSource;
  let app: { events: EventsService; close(): Promise<void> };
  // Registered first: the connections end before the database does.
  afterAll(async () => {
    await app?.close();
    await Promise.all([source?.destroy(), pool?.end()]);
  });
  const service = useService();
  const receiver = useReceiver();
  let api: Api;
  let hook: Hook;

  async function start(options: Partial<WebhookNotificationOptions> = {}) {
    @Module({
      imports: [
        WebhookNotificationModule.forRootAsync({
          useFactory: () => ({
            application: 'shop',
            events: [OrderPaid],
            transport: database({ connection: source }),
            ...options,
          }),
        }),
      ],
      providers: [OrdersService],
    })
    class AppModule {}
    const context = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    return { events: context.get(OrdersService).events, close: () => context.close() };
  }

  beforeAll(async () => {
    pool = new Pool({ connectionString: service.database.url, max: 4 });
    source = await new DataSource({ type: 'postgres', url: service.database.url }).initialize();
    app = await start();
    api = await service.apiFor('alice');
  });
  beforeEach(async () => {
    hook = receiver.hook();
    await subscribe(api, hook, ['order.*']);
  });

  const dataAt = async (count: number) =>
    (await hook.received(count)).map(({ body }) => (JSON.parse(body.toString()) as { data: object }).data);
  const kept = (orderId: string) =>
    service.database.query("select id from webhook_service.events where body::jsonb -> 'data' ->> 'orderId' = $1", [
      orderId,
    ]);

  it('has its events known to the service, without a setting', async () => {
    const listed = () =>
      service.api
        .eventTypes()
        .then(async (reply) => (await dataOf(Promise.resolve(reply))).find(({ name }) => name === 'order.paid'));
    const type = await waitFor(listed, { what: 'the event type' });
    expect(type).toMatchObject({ source: 'module', application: 'shop', example: { orderId: 'order 42' } });
    expect(JSON.stringify(type.schema)).not.toContain('pattern');
  });

  describe.each(WAYS)('in a transaction of $title', ({ title, inTransaction }) => {
    it('publishes with the commit, and the event arrives', async () => {
      const orderId = `order ${title} "é\\u0000'`;
      const subject = `50 % \\ "é/'${title}' 🧾`;
      const published = await inTransaction(pool, source, async (tx) => {
        const made = await app.events.publish(OrderPaid, { orderId }, { ...ALICE, subject, tx });
        expect(await kept(orderId)).toEqual([]);
        return made;
      });
      const [call] = await hook.received(1);
      const { id, createdAt } = published as { id: string; createdAt: Date };
      const body = { id, event: 'order.paid', createdAt: createdAt.toISOString(), subject, data: { orderId } };
      // PostgreSQL would write some of these characters in another way.
      expect(call!.body.toString()).toBe(JSON.stringify(body));
      expect(decodeURIComponent(String(call!.headers['x-service-subject']))).toBe(subject);
      expect((await dataOf(api.listEvents({ subject }))).map((event) => event.id)).toEqual([id]);
    });

    it('publishes nothing when it is rolled back', async () => {
      const orderId = `order rolled back ${title}`;
      const failing = inTransaction(pool, source, async (tx) => {
        await app.events.publish(OrderPaid, { orderId }, { ...ALICE, tx });
        throw new Error('not after all');
      });
      await expect(failing).rejects.toThrow('not after all');
      expect(await kept(orderId)).toEqual([]);
    });

    it('publishes once with a key, and refuses another event with it', async () => {
      const key = randomUUID();
      const publish = (orderId: string, subject?: string) =>
        inTransaction(pool, source, (tx) =>
          app.events.publish(OrderPaid, { orderId }, { ...ALICE, idempotencyKey: key, subject: subject ?? null, tx }),
        );
      const first = (await publish('order 1', 'one')) as { id: string; createdAt: Date };
      const second = await publish('order 1', 'one');
      expect(second).toEqual({ ...first, duplicate: true });
      await expect(publish('order 2', 'one')).rejects.toMatchObject({ status: 409 });
      for (const subject of ['two', undefined])
        await expect(publish('order 1', subject)).rejects.toMatchObject({ status: 409 });
      expect(await dataAt(1)).toEqual([{ orderId: 'order 1' }]);
    });

    it('treats members in another order as the same event', async () => {
      const key = randomUUID();
      const publish = (data: object) =>
        inTransaction(pool, source, (tx) =>
          app.events.publish(OrderPaid, data as { orderId: string }, {
            ...{ userId: 'nobody', idempotencyKey: key, subject: title, tx },
          }),
        );
      const first = (await publish({ orderId: 'order 1', lines: { a: 1, b: 2 } })) as { id: string };
      const second = await publish({ lines: { b: 2, a: 1 }, orderId: 'order 1' });
      expect(second).toEqual({ ...first, duplicate: true });
      await expect(publish({ orderId: 'order 1', lines: { a: 1, b: 3 } })).rejects.toMatchObject({ status: 409 });
    });

    it('publishes 1,200 together', async () => {
      const events = Array.from({ length: 1200 }, (_, i) => ({
        event: OrderPaid,
        data: { orderId: `order many ${title} ${i}` },
        userId: 'nobody',
        ...(i % 2 === 0 && { idempotencyKey: `${title} ${i % 600}` }),
      }));
      const answers = (await inTransaction(pool, source, (tx) =>
        app.events.publishMany(
          events.map((event, i) => (i < 600 ? event : { ...event, data: events[i - 600]!.data })),
          { tx },
        ),
      )) as { id: string; duplicate: boolean }[];
      expect(answers.filter(({ duplicate }) => duplicate)).toHaveLength(300);
      expect(new Set(answers.map(({ id }) => id)).size).toBe(900);
      expect(answers[600]!.id).toBe(answers[0]!.id);
    });
  });

  it('publishes by itself, and tells of it on the channel', async () => {
    const told: unknown[] = [];
    const onPublished = (message: unknown) => told.push(message);
    listen(PUBLISHED_CHANNEL, onPublished);
    const published = await app.events.publish(OrderPaid, { orderId: 'order alone' }, { userId: 'alice' });
    unsubscribe(PUBLISHED_CHANNEL, onPublished);
    expect(told).toEqual([{ published, application: 'shop', inTransaction: false }]);
    expect(await dataAt(1)).toEqual([{ orderId: 'order alone' }]);
  });

  it('publishes nothing of a savepoint that is rolled back', async () => {
    await source.transaction(async (manager) => {
      await app.events.publish(OrderPaid, { orderId: 'order outside' }, { userId: 'alice', tx: manager });
      const inner = manager.transaction(async (tx) => {
        await app.events.publish(OrderPaid, { orderId: 'order inside' }, { userId: 'alice', tx });
        throw new Error('only this');
      });
      await expect(inner).rejects.toThrow('only this');
    });
    expect(await dataAt(1)).toEqual([{ orderId: 'order outside' }]);
    expect(await kept('order inside')).toEqual([]);
  });

  it.each<[string, () => Promise<unknown>, number, RegExp]>([
    [
      'data that only the whole schema refuses',
      () => app.events.publish(OrderPaid, { orderId: '42' }, ALICE),
      400,
      /pattern/,
    ],
    [
      'an unknown name',
      () => app.events.publish('order.lost' as never, {} as never, ALICE),
      400,
      /no event named "order.lost"/,
    ],
    [
      'a user who cannot be',
      () => app.events.publish(OrderPaid, { orderId: 'order 1' }, { userId: 'a b' }),
      400,
      /^userId/,
    ],
    [
      'what is too large',
      () => app.events.publish(OrderPaid, { orderId: 'order 1', note: 'x'.repeat(99_000) }, ALICE),
      413,
      /larger/,
    ],
    [
      '501 without a transaction',
      () =>
        app.events.publishMany(
          Array.from({ length: 501 }, () => ({ event: OrderPaid, data: { orderId: 'order 1' }, ...ALICE })),
        ),
      400,
      /pass tx/,
    ],
  ])('refuses %s', async (_, publish, status, message) => {
    const refused = await publish().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(EventRefusedError);
    expect(refused).toMatchObject({ status, message: expect.stringMatching(message) });
  });

  const forgotten = { idempotencyKey: 'forgotten' };
  const unknown: { userId?: string } = {};
  it.each<[string, string, (events: EventsService) => Promise<unknown>]>([
    // @ts-expect-error: options are required
    ['no options', 'userId', (events) => events.publish(OrderPaid, VALID)],
    // @ts-expect-error: userId is required
    ['options without a user', 'userId', (events) => events.publish(OrderPaid, VALID, forgotten)],
    // @ts-expect-error: userId is a text, or null
    ['an undefined user', 'userId', (events) => events.publish(OrderPaid, VALID, unknown)],
    ['null instead of options', 'userId', (events) => events.publish(OrderPaid, VALID, null as never)],
    // @ts-expect-error: each event names its user
    ['one of many', 'events[0].userId', (events) => events.publishMany([{ event: OrderPaid, data: VALID }])],
  ])('publishes to nobody with %s', async (_, field, publish) => {
    const before = await pool.query('select id from webhook_service.events');
    const error = await publish(app.events).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toContain(`${field} is missing: pass the id of a user, or null`);
    expect(await pool.query('select id from webhook_service.events')).toMatchObject({ rowCount: before.rowCount });
  });

  it('knows what others have declared, at once', async () => {
    const types = await service.apiFor('operator', ['event-types:manage']);
    await expect(app.events.publish('mail.sent' as never, {} as never, ALICE)).rejects.toThrow('no event named');
    const schema = { type: 'object', required: ['to'] };
    await dataOf(types.saveEventType('mail.sent', { description: 'Sent.', schema, example: { to: 'ada' } }), 201);
    await expect(app.events.publish('mail.sent' as never, {} as never, ALICE)).rejects.toThrow("'to'");
    await app.events.publish('mail.sent' as never, { to: 'ada' } as never, ALICE);
  });

  it('keeps the description and example of its last start, and knows both again', async () => {
    const odd = { ...OrderPaid, name: 'order.odd', example: { orderId: 'order 42', note: '\u0000' } };
    const kept = () =>
      service.database.query<{ description: string; version: string }>(
        "select description, version from webhook_service.event_types where name = 'order.odd'",
      );
    await (await start({ events: [odd] })).close();
    const [first] = await kept();
    await (await start({ events: [odd] })).close();
    expect(await kept()).toEqual([first]);
    await (await start({ events: [{ ...odd, description: 'An odd order was paid.' }] })).close();
    const [last] = await kept();
    expect(last).toMatchObject({ description: 'An odd order was paid.' });
    expect(last?.version).not.toBe(first?.version);
  });

  it('does not start with a name of another application, and warns of another schema', async () => {
    await expect(start({ application: 'mail' })).rejects.toThrow(
      'The event order.paid cannot be declared: the application shop has it.',
    );
    const warnings: string[] = [];
    const other = { ...OrderPaid, schema: { type: 'object' as const } };
    const warn = jest
      .spyOn(Logger.prototype, 'warn')
      .mockImplementation((said: unknown) => void warnings.push(String(said)));
    const same = await start();
    await same.close();
    expect(warnings).toEqual([]);
    const changed = await start({ events: [other] });
    await changed.close();
    warn.mockRestore();
    expect(warnings).toEqual([expect.stringMatching(/^The event order.paid is stored with another schema/)]);
  });

  it.each<[string, Partial<WebhookNotificationOptions>, string]>([
    ['a name that cannot be', { application: 'my shop' }, 'application must be 1 to 64'],
    ['an endless description', { events: [{ ...OrderPaid, description: 'x'.repeat(501) }] }, '1 to 500 characters'],
    [
      'an endless example',
      { events: [{ ...OrderPaid, example: { orderId: 'order 42', note: 'x'.repeat(16_384) } }] },
      'example is larger than 16384 bytes',
    ],
  ])('does not start with %s, which no service would take', async (_, options, message) => {
    await expect(start(options)).rejects.toThrow(message);
  });

  it('starts many times at once', async () => {
    const events = Array.from({ length: 20 }, (_, i) => ({ ...OrderPaid, name: `order.started_${i}` }));
    const apps = await Promise.all(Array.from({ length: 6 }, () => start({ events })));
    await Promise.all(apps.map((each) => each.close()));
    const rows = await service.database.query(
      "select 1 from webhook_service.event_types where name like 'order.started%'",
    );
    expect(rows).toHaveLength(20);
  });

  it('does not start on tables of another version, or without any', async () => {
    const [stored] = await service.database.query('select version from webhook_service.schema_version');
    expect(stored).toEqual({ version: 2 });
    await service.database.query('update webhook_service.schema_version set version = 4');
    await expect(start()).rejects.toThrow('has tables of version 4, and this package knows 2');
    await service.database.query('update webhook_service.schema_version set version = 3');
    await (await start()).close();
    await service.database.query('update webhook_service.schema_version set version = 2');
    const elsewhere = { query: () => Promise.reject(Object.assign(new Error('relation'), { code: '42P01' })) };
    await expect(start({ transport: database({ connection: elsewhere }) })).rejects.toThrow(
      'There is no webhook service in this database',
    );
  });
});
