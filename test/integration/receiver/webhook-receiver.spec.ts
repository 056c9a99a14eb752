import 'reflect-metadata';
import { Body, Controller, Module, Post, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ExpressAdapter, type NestExpressApplication } from 'platform-express';
import { Pool, type PoolClient } from 'pg';
import { type ReceivedEvent, type ReceivedPayload, signDelivery } from 'webhook-notification';
import {
  MemoryReceipts,
  PostgresReceipts,
  ReceiveWebhooks,
  WebhookEvent,
  type WebhookReceiverOptions,
  WebhookReceiverModule,
  WebhookTransaction,
} from 'webhook-notification/nest/receiver';
import { pgTransaction } from '../../support/pg-transaction';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const ADAPTERS = { Fastify: () => new FastifyAdapter(), Express: () => new ExpressAdapter() };

describe.each(['Fastify', 'Express'] as const)('A receiver on %s', (on) => {
  let database: TestDatabase;
  let pool: Pool;
  let app: INestApplication;
  let handled: string[];
  let received: { body: object; event: ReceivedEvent | ReceivedPayload };
  /** What the handler does before it returns. */
  let during: (id: string, transaction: PoolClient | undefined) => Promise<void>;

  beforeAll(async () => {
    database = await cloneDatabase();
    pool = new Pool({ connectionString: database.url, max: 60 });
    // The database is dropped while connections still close.
    pool.on('error', () => undefined);
    await pool.query('create table paid (event_id text primary key)');
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });
  beforeEach(() => {
    handled = [];
    during = async () => undefined;
  });
  afterEach(() => app.close());

  const transaction = <Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> =>
    pgTransaction(pool, work);

  async function start(options: Partial<WebhookReceiverOptions>): Promise<void> {
    @Controller('hooks')
    class HooksController {
      @Post()
      @ReceiveWebhooks()
      async receive(
        @Body() body: object,
        @WebhookEvent() event: ReceivedEvent | ReceivedPayload,
        @WebhookTransaction() client: PoolClient | undefined,
      ): Promise<string> {
        handled.push(event.id);
        received = { body, event };
        await during(event.id, client);
        return 'handled';
      }

      @Post('started')
      @ReceiveWebhooks('job.started')
      receiveStarted(@WebhookEvent() event: ReceivedEvent | ReceivedPayload): string {
        handled.push(event.id);
        return 'handled';
      }
    }
    @Module({
      imports: [WebhookReceiverModule.forRoot({ secret: SECRET, ...options })],
      controllers: [HooksController],
    })
    class ReceiverModule {}
    const created = await NestFactory.create<NestExpressApplication>(ReceiverModule, ADAPTERS[on](), {
      logger: false,
      rawBody: true,
    });
    const type = ['application/json', 'application/cloudevents+json'];
    if (on === 'Express') created.useBodyParser('json', { type });
    app = created;
    await app.listen(0, '127.0.0.1');
  }

  type Signed = Partial<Parameters<typeof signDelivery>[0]>;
  async function post(id: string, more: Signed = {}, type?: string, path = '') {
    const signed = signDelivery({ event: 'job.started', data: {}, secret: SECRET, id, ...more });
    const { body } = signed;
    const headers = { ...signed.headers, ...(type && { 'content-type': type }) };
    const answer = await fetch(`${await app.getUrl()}/hooks${path}`, { method: 'POST', headers, body });
    return { status: answer.status, text: await answer.text() };
  }

  it('handles deliveries in the format cloudevents', async () => {
    await start({});
    expect(await post(`${on}-cloudevents`, {}, 'application/cloudevents+json')).toEqual({
      status: 200,
      text: 'handled',
    });
    expect(await post(`${on}-text`, {}, 'text/plain')).toMatchObject({ status: 401 });
    expect(handled).toEqual([`${on}-cloudevents`]);
  });

  it('gives the handler the verified event, and of a payload what is not signed apart', async () => {
    const data = { event: 'forged', data: 1 };
    await start({ format: 'payload' });
    await post(`${on}-payload`, { format: 'payload', data });
    expect(received).toEqual({
      body: data,
      event: {
        ...{ id: `${on}-payload`, event: null, createdAt: null, data },
        unsigned: { event: 'job.started', subject: null },
      },
    });
    await app.close();
    await start({ format: 'standard' });
    await post(`${on}-standard`, { format: 'standard', data, createdAt: new Date(0) });
    expect(received.event).toEqual({
      ...{ id: `${on}-standard`, event: 'job.started', createdAt: '1970-01-01T00:00:00.000Z', data },
    });
  });

  it('calls a handler with names for their events only, and by names that are not signed only if it may', async () => {
    const started = (id: string, more: Signed) => post(`${on}-${id}`, more, undefined, '/started');
    await start({});
    expect(await started('native', {})).toEqual({ status: 200, text: 'handled' });
    expect(await started('other', { event: 'job.completed' })).toEqual({ status: 200, text: '' });
    await app.close();
    await start({ format: 'payload' });
    expect(await started('distrusted', { format: 'payload' })).toMatchObject({
      ...{ status: 500, text: expect.stringContaining('trustHeaders') },
    });
    await app.close();
    await start({ format: 'payload', trustHeaders: true });
    expect(await started('trusted', { format: 'payload' })).toEqual({ status: 200, text: 'handled' });
    expect(await started('another', { format: 'payload', event: 'job.completed' })).toMatchObject({ text: '' });
    expect(handled).toEqual([`${on}-native`, `${on}-trusted`]);
  });

  describe.each([
    ['in memory', () => new MemoryReceipts()],
    ['on PostgreSQL', () => new PostgresReceipts<PoolClient>({ transaction })],
  ])('with receipts %s', (where, receipts) => {
    const id = (name: string) => `${on}-${where}-${name}`;

    it('handles an event of fifty requests at once one time, and answers the others with 409 or 200', async () => {
      await start({ receipts: receipts() });
      let release = () => {};
      const held = new Promise<void>((resolve) => (release = resolve));
      during = () => held;
      const repeats = new Array(50).fill(id('fifty')).map((one: string) => post(one));
      const settled: number[] = [];
      for (const repeat of repeats) void repeat.then(({ status }) => settled.push(status));
      await Promise.race(repeats);
      release();
      const statuses = (await Promise.all(repeats)).map(({ status }) => status);
      expect(handled).toEqual([id('fifty')]);
      expect(settled[0]).toBe(409);
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
      expect(new Set(statuses)).toEqual(new Set([200, 409]));
      expect(await post(id('fifty'))).toEqual({ status: 200, text: '' });
      expect(handled).toHaveLength(1);
    });

    it('handles again an event whose handler threw', async () => {
      await start({ receipts: receipts() });
      during = () => Promise.reject(new Error('no'));
      expect((await post(id('thrown'))).status).toBe(500);
      during = async () => undefined;
      expect(await post(id('thrown'))).toEqual({ status: 200, text: 'handled' });
      expect(await post(id('thrown'))).toEqual({ status: 200, text: '' });
      expect(handled).toEqual([id('thrown'), id('thrown')]);
    });

    it('handles a redelivery again only where that is wanted', async () => {
      await start({ receipts: receipts() });
      await post(id('again'));
      expect(await post(id('again'), { trigger: 'redelivery' })).toEqual({ status: 200, text: '' });
      await app.close();
      await start({ receipts: receipts(), redeliveries: true });
      await post(id('wanted'));
      expect(await post(id('wanted'), { trigger: 'redelivery' })).toEqual({ status: 200, text: 'handled' });
      expect(await post(id('wanted'))).toEqual({ status: 200, text: '' });
      expect(handled).toEqual([id('again'), id('wanted'), id('wanted')]);
    });

    it('lets nothing in that is not genuine', async () => {
      await start({ receipts: receipts() });
      expect((await post(id('forged'), { secret: 'another' })).status).toBe(401);
      expect(await post(id('forged'))).toEqual({ status: 200, text: 'handled' });
    });
  });

  it('on PostgreSQL rolls back the note with what the handler wrote', async () => {
    await start({ receipts: new PostgresReceipts<PoolClient>({ transaction }) });
    const one = `${on}-rolled-back`;
    const count = async (table: string) =>
      (await pool.query<{ count: number }>(`select count(*)::int from ${table} where event_id = $1`, [one])).rows[0]
        ?.count;
    during = async (id, client) => {
      await client?.query('insert into paid values ($1)', [id]);
      throw new Error('no');
    };
    await post(one);
    expect([await count('paid'), await count('webhook_receipts')]).toEqual([0, 0]);
    during = async (id, client) => {
      await client?.query('insert into paid values ($1)', [id]);
    };
    expect((await post(one)).status).toBe(200);
    expect([await count('paid'), await count('webhook_receipts')]).toEqual([1, 1]);
  });

  it('on PostgreSQL forgets events of before keepDays, and handles them again', async () => {
    await start({ receipts: new PostgresReceipts<PoolClient>({ transaction, keepDays: 2 }) });
    const [old, other] = [`${on}-old`, `${on}-other`];
    await post(old);
    await pool.query(`update webhook_receipts set handled_at = now() - interval '3 days' where event_id = $1`, [old]);
    expect(await post(old)).toEqual({ status: 200, text: 'handled' });
    await pool.query(`update webhook_receipts set handled_at = now() - interval '3 days'`);
    await post(other);
    const { rows } = await pool.query<{ event_id: string }>(
      'select event_id from webhook_receipts where event_id = $1',
      [old],
    );
    expect(rows).toEqual([]);
  });
});

describe('Receipts on PostgreSQL', () => {
  it.each([{ table: 'a"b' }, { table: 'A' }, { keepDays: 0 }, { keepDays: Number.NaN }])('refuse %p', (options) => {
    expect(() => new PostgresReceipts({ transaction: () => Promise.reject<never>(new Error()), ...options })).toThrow(
      TypeError,
    );
  });
});
