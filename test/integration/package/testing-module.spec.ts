import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { defineEvent, verifySignature } from 'webhook-notification';
import { ConsoleLinksService, EventsService, WebhooksClient } from 'webhook-notification/nest';
import {
  signDelivery,
  TestingEventsService,
  type TestingOptions,
  webhookMatchers,
  WebhookNotificationTestingModule,
} from 'webhook-notification/testing';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';

expect.extend(webhookMatchers);

const OrderPaid = defineEvent({
  name: 'order.paid',
  description: 'An order was paid.',
  schema: { type: 'object', required: ['cents'], properties: { cents: { type: 'integer' } } },
  example: { cents: 4900 },
});

@Injectable()
class OrdersService {
  constructor(private readonly events: EventsService) {}

  pay(cents: number, options: object = {}) {
    return this.events.publish(OrderPaid, { cents }, { userId: 'alice', ...options });
  }
}

async function start(options: TestingOptions = {}) {
  const app = await Test.createTestingModule({
    imports: [WebhookNotificationTestingModule.forRoot({ events: [OrderPaid], ...options })],
    providers: [OrdersService],
  }).compile();
  await app.init();
  return { app, orders: app.get(OrdersService), events: app.get(TestingEventsService) };
}

describe('The testing module', () => {
  it('provides the client, which tests can override', async () => {
    const module = () => Test.createTestingModule({ imports: [WebhookNotificationTestingModule.forRoot()] });
    const nowhere = await module().compile();
    await expect(nowhere.get(ConsoleLinksService).create('alice')).rejects.toThrow('Nobody knows where the service is');
    const consoleLinks = { create: (link: object) => Promise.resolve(link) };
    const app = await module().overrideProvider(WebhooksClient).useValue({ consoleLinks }).compile();
    expect(await app.get(ConsoleLinksService).create('alice', { expiresInSeconds: 60 })).toEqual({
      userId: 'alice',
      expiresInSeconds: 60,
    });
  });

  it('provides an EventsService to the application, and the published events to the test', async () => {
    const { app, orders, events } = await start();
    expect(app.get(EventsService)).toBe(events);
    const { id } = await orders.pay(1);
    await orders.pay(2);
    const [first] = await events.published(OrderPaid);
    const cents: number = first!.data.cents;
    expect({ ...first, cents }).toMatchObject({
      id,
      event: 'order.paid',
      userId: 'alice',
      data: { cents: 1 },
      cents: 1,
    });
    expect(await events.published('order.paid')).toHaveLength(2);
    expect(await events.published('job.started')).toEqual([]);
    await expect(events.single(OrderPaid)).rejects.toThrow('Expected one event order.paid, and there are 2.');
    await events.clear();
    await orders.pay(3);
    expect((await events.single(OrderPaid)).data).toEqual({ cents: 3 });
    await app.close();
  });

  it('provides a matcher', async () => {
    const { app, orders, events } = await start();
    await orders.pay(1);
    const wanted = expect(events) as unknown as Record<string, (...args: unknown[]) => Promise<void>> & {
      not: Record<string, (...args: unknown[]) => Promise<void>>;
    };
    await wanted.toHavePublished!(OrderPaid);
    await wanted.toHavePublished!('order.paid', { cents: 1 });
    await wanted.toHavePublished!(OrderPaid, expect.objectContaining({ cents: expect.any(Number) }));
    await wanted.not.toHavePublished!(OrderPaid, { cents: 2 });
    await expect(wanted.toHavePublished!(OrderPaid, { cents: 2 })).rejects.toThrow('order.paid with {"cents":1}');
    await app.close();
  });

  it('validates like the real module', async () => {
    const { app, orders, events } = await start();
    await expect(orders.pay(1.5)).rejects.toThrow('data.cents must be integer');
    await expect(events.publish('order.lost' as never, {} as never, { userId: null })).rejects.toMatchObject({
      status: 400,
    });
    const first = await orders.pay(1, { idempotencyKey: 'one' });
    expect(await orders.pay(1, { idempotencyKey: 'one' })).toEqual({ ...first, duplicate: true });
    await expect(orders.pay(2, { idempotencyKey: 'one' })).rejects.toMatchObject({ status: 409 });
    expect(await events.published()).toHaveLength(1);
    const about = (subject: string) => orders.pay(1, { idempotencyKey: 'two', subject });
    await about('invoice/1');
    expect(await about('invoice/1')).toMatchObject({ duplicate: true });
    await expect(about('invoice/2')).rejects.toMatchObject({ status: 409 });
    await expect(about(' ')).rejects.toThrow('subject must be');
    expect(await events.published()).toMatchObject([{ subject: null }, { subject: 'invoice/1' }]);
    await app.close();
  });

  it('makes the next publication fail', async () => {
    const { app, orders, events } = await start();
    events.failNext(new Error('the database is away'));
    await expect(orders.pay(1)).rejects.toThrow('the database is away');
    await orders.pay(2);
    expect((await events.single(OrderPaid)).data).toEqual({ cents: 2 });
    await app.close();
  });

  it('works with fake timers', async () => {
    jest.useFakeTimers();
    try {
      const { app, orders, events } = await start();
      await orders.pay(1);
      await events.single(OrderPaid);
      await app.close();
    } finally {
      jest.useRealTimers();
    }
  });

  it('signs deliveries for tests of receivers', () => {
    const unsigned = { event: 'order.paid', data: { cents: 1 }, secret: 'a secret' };
    const { headers, body } = signDelivery({ ...unsigned, subject: 'invoice/1' });
    expect(verifySignature(body, headers, 'a secret')).toMatchObject({ subject: 'invoice/1', data: { cents: 1 } });
    expect(headers).toMatchObject({ 'x-service-subject': 'invoice%2F1' });
    expect(signDelivery(unsigned).headers).not.toHaveProperty('x-service-subject');
  });
});

describe('The testing module with the database of the test', () => {
  let database: TestDatabase;
  let source: DataSource;
  let pool: Pool;
  beforeAll(async () => {
    database = await cloneDatabase();
    pool = new Pool({ connectionString: database.url, max: 2 });
    source = await new DataSource({ type: 'postgres', url: database.url }).initialize();
  });
  afterAll(async () => {
    await Promise.all([source.destroy(), pool.end()]);
    await database.drop();
  });

  it('counts events of committed transactions, and none of a savepoint that was rolled back', async () => {
    const { app, orders, events } = await start({ connection: pool });
    await source.transaction(async (tx) => {
      await orders.pay(1, { tx, idempotencyKey: 'one' });
      expect(await orders.pay(1, { tx, idempotencyKey: 'one' })).toMatchObject({ duplicate: true });
      const inner = tx.transaction(async (savepoint) => {
        await orders.pay(2, { tx: savepoint, idempotencyKey: 'two' });
        throw new Error('not this');
      });
      await expect(inner).rejects.toThrow('not this');
      expect(await events.published()).toEqual([]);
    });
    expect((await events.single(OrderPaid)).data).toEqual({ cents: 1 });
    expect(await orders.pay(3, { idempotencyKey: 'two' })).toMatchObject({ duplicate: false });
    const failing = source.transaction(async (tx) => {
      await orders.pay(4, { tx });
      throw new Error('nor this');
    });
    await expect(failing).rejects.toThrow('nor this');
    expect((await events.published()).map(({ data }) => data)).toEqual([{ cents: 1 }, { cents: 3 }]);
    await app.close();
    expect(await database.query("select 1 from pg_tables where tablename like 'webhook_notification_test%'")).toEqual(
      [],
    );
  });
});
