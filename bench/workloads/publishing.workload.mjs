// Transactions of an application that insert a row and publish an event, with each transport of the library, compared
// with the same transactions without an event. The service runs meanwhile, and the outbox is relayed.
import pg from 'pg';
import { database, EventsService, http } from 'webhook-notification/nest';
import { dataOf, EVENT } from '../payload.mjs';
import { now } from '../processes/remote.mjs';
import { Service } from '../processes/services.mjs';
import { alternate } from '../rounds.mjs';

const TRANSACTIONS = 2000;
const AT_ONCE = 8;
const SCOPES = ['events:publish', 'events:broadcast', 'event-types:manage'];

export async function publishing(bench) {
  const service = await Service.start(bench, bench.stores.queues[0], { ROLE: 'api' });
  const pool = new pg.Pool({ connectionString: service.store.settings.DATABASE_URL, max: AT_ONCE + 2 });
  await pool.query('create table orders (id bigint generated always as identity primary key, note text not null)');
  const { data: made } = await service.call('POST', '/api/tokens', { name: 'shop', userId: 'shop', scopes: SCOPES });
  const amount = bench.scaled(TRANSACTIONS);
  const transports = {
    database: database({ connection: pool }),
    http: http({ url: service.url, token: made.token, outbox: { connection: pool } }),
  };
  for (const [name, transport] of Object.entries(transports)) {
    const events = new EventsService({ application: 'shop', transport });
    await events.onApplicationBootstrap();
    const publish = (tx) => events.publish(EVENT, dataOf(1), { userId: 'shop', tx });
    await pay(pool, amount / 10, publish);
    await alternate(bench, {
      title: `transactions that publish, transport ${name}`,
      unit: 'transactions/s',
      limit: () => pay(pool, amount, () => undefined),
      measure: () => payAndCount(pool, amount, publish, name),
    });
    await events.beforeApplicationShutdown();
  }
  await pool.end();
  await service.end();
}

/** With the database transport, every transaction has written one event. */
async function payAndCount(pool, amount, publish, name) {
  if (name !== 'database') return pay(pool, amount, publish);
  const before = await countEvents(pool);
  const { values } = await pay(pool, amount, publish);
  const written = (await countEvents(pool)) - before;
  return { values, problems: written === amount ? [] : [`${written} events are stored, not ${amount}`] };
}

async function countEvents(pool) {
  const { rows } = await pool.query('select count(*)::int as count from webhook_service.events');
  return rows[0].count;
}

async function pay(pool, wanted, publish) {
  const amount = Math.ceil(wanted);
  let begun = 0;
  const startedAt = now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (begun++ < amount) {
        const client = await pool.connect();
        await client.query('begin');
        await client.query('insert into orders (note) values ($1)', ['paid']);
        await publish(client);
        await client.query('commit');
        client.release();
      }
    }),
  );
  return { values: { value: amount / ((now() - startedAt) / 1000) }, problems: [] };
}
