import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from '@prisma/client';
import { MikroORM } from '@mikro-orm/postgresql';
import { drizzle } from 'drizzle-orm/node-postgres';
import knex from 'knex';
import { Kysely, PostgresDialect } from 'kysely';
import { Pool, type PoolClient } from 'pg';
import postgres from 'postgres';
import { Sequelize } from 'sequelize';
import { DataSource } from 'typeorm';
import { defineEvent } from 'webhook-notification';
import {
  database,
  EventsService,
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromMikroOrm,
  fromPostgresJs,
  fromPrisma,
  fromSequelize,
  http,
  type Transaction,
  WebhookNotificationModule,
} from 'webhook-notification/nest';
import { PostgresReceipts } from 'webhook-notification/nest/receiver';
import { TestingEventsService, WebhookNotificationTestingModule } from 'webhook-notification/testing';

// Copied by test/e2e/package/nest-matrix.spec.ts beside the packed library, and compiled for each version of Nest.

const { DATABASE_URL: url = '', WEBHOOKS_URL = '', WEBHOOKS_TOKEN = '' } = process.env;
const OrderPaid = defineEvent({
  name: 'order.paid',
  description: 'An order was paid.',
  schema: { type: 'object', required: ['id'], properties: { id: { type: 'string' }, note: { type: 'string' } } },
  example: { id: 'first' },
});
const ODD = `é "quoted" \\u0000 it's a ? and ?? and \\? and $1 and :name and ::text`;

type Work = (tx: Transaction) => Promise<void>;

/** A library that runs statements, with a pool of one connection. */
interface Orm {
  connection: Transaction;
  transaction(work: Work): Promise<unknown>;
  /** Runs `inner`, which fails, in a savepoint after `outer`; undefined where the library has none. */
  nested?: (outer: Work, inner: Work) => Promise<unknown>;
  close(): Promise<unknown>;
}

/** The failure of an inner transaction rolls back nothing else. */
const caught = (inner: Promise<unknown>) =>
  inner.then(
    () => Promise.reject(new Error('The inner transaction did not fail.')),
    () => undefined,
  );

async function ofPg(pool: Pool, work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await work(client);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

const poolOf = () => new Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 30_000 });

const ORMS: Record<string, () => Orm | Promise<Orm>> = {
  async typeorm() {
    const source = await new DataSource({ type: 'postgres', url, extra: { max: 1 } }).initialize();
    return {
      connection: source,
      transaction: (work) => source.transaction(work),
      nested: (outer, inner) =>
        source.transaction(async (manager) => {
          await outer(manager);
          await caught(manager.transaction(inner));
        }),
      close: () => source.destroy(),
    };
  },
  pg() {
    const pool = poolOf();
    return {
      connection: pool,
      transaction: (work) => ofPg(pool, work),
      nested: (outer, inner) =>
        ofPg(pool, async (client) => {
          await outer(client);
          await client.query('savepoint inside');
          await caught(inner(client));
          await client.query('rollback to savepoint inside');
        }),
      close: () => pool.end(),
    };
  },
  drizzle() {
    const pool = poolOf();
    const db = drizzle(pool);
    return {
      connection: fromDrizzle(db),
      transaction: (work) => db.transaction((tx) => work(fromDrizzle(tx))),
      nested: (outer, inner) =>
        db.transaction(async (tx) => {
          await outer(fromDrizzle(tx));
          await caught(tx.transaction((savepoint) => inner(fromDrizzle(savepoint))));
        }),
      close: () => pool.end(),
    };
  },
  kysely() {
    const db = new Kysely<object>({ dialect: new PostgresDialect({ pool: poolOf() }) });
    return {
      connection: fromKysely(db),
      transaction: (work) => db.transaction().execute((trx) => work(fromKysely(trx))),
      nested: async (outer, inner) => {
        const trx = await db.startTransaction().execute();
        await outer(fromKysely(trx));
        const savepoint = await trx.savepoint('inside').execute();
        await caught(inner(fromKysely(savepoint)));
        await savepoint.rollbackToSavepoint('inside').execute();
        await trx.commit().execute();
      },
      close: () => db.destroy(),
    };
  },
  knex() {
    const db = knex({ client: 'pg', connection: url, pool: { min: 0, max: 1 }, acquireConnectionTimeout: 30_000 });
    return {
      connection: fromKnex(db),
      transaction: (work) => db.transaction((trx) => work(fromKnex(trx))),
      nested: (outer, inner) =>
        db.transaction(async (trx) => {
          await outer(fromKnex(trx));
          await caught(trx.transaction((savepoint) => inner(fromKnex(savepoint))));
        }),
      close: () => db.destroy(),
    };
  },
  async mikroOrm() {
    const pool = { min: 0, max: 1 };
    const orm = await MikroORM.init({ clientUrl: url, entities: [], discovery: { warnWhenNoEntities: false }, pool });
    return {
      connection: fromMikroOrm(orm.em),
      transaction: (work) => orm.em.transactional((em) => work(fromMikroOrm(em))),
      nested: (outer, inner) =>
        orm.em.transactional(async (em) => {
          await outer(fromMikroOrm(em));
          await caught(em.transactional((savepoint) => inner(fromMikroOrm(savepoint))));
        }),
      close: () => orm.close(),
    };
  },
  postgresJs() {
    const sql = postgres(url, { max: 1, onnotice: () => undefined });
    return {
      connection: fromPostgresJs(sql),
      transaction: (work) => sql.begin((tx) => work(fromPostgresJs(tx))),
      nested: (outer, inner) =>
        sql.begin(async (tx) => {
          await outer(fromPostgresJs(tx));
          await caught(tx.savepoint((savepoint) => inner(fromPostgresJs(savepoint))));
        }),
      close: () => sql.end(),
    };
  },
  prisma() {
    const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max: 1 }) });
    return {
      connection: fromPrisma(prisma),
      transaction: (work) => prisma.$transaction((tx) => work(fromPrisma(tx)), { maxWait: 30_000, timeout: 30_000 }),
      close: () => prisma.$disconnect(),
    };
  },
  sequelize() {
    const sequelize = new Sequelize(url, { logging: false, pool: { max: 1 } });
    return {
      connection: fromSequelize(sequelize),
      transaction: (work) => sequelize.transaction((transaction) => work(fromSequelize(sequelize, transaction))),
      nested: (outer, inner) =>
        sequelize.transaction(async (transaction) => {
          await outer(fromSequelize(sequelize, transaction));
          const savepoint = sequelize.transaction({ transaction }, (inside) => inner(fromSequelize(sequelize, inside)));
          await caught(savepoint);
        }),
      close: () => sequelize.close(),
    };
  },
};

/** Closes the connection in the hook in which the modules of TypeORM, MikroORM and Sequelize do. */
function databaseModule(orm: Orm) {
  @Module({})
  class DatabaseModule {
    onApplicationShutdown = () => orm.close();
  }
  return DatabaseModule;
}

const failing = (work: Work): Work => {
  return async (tx) => {
    await work(tx);
    throw new Error('not after all');
  };
};

/** Publishes with `database` and with `http`: `<name> committed`, `<name> outside` and `<name> alone`, and nothing else. */
async function publishing(name: string, orm: Orm, kind: 'database' | 'http'): Promise<void> {
  const { connection } = orm;
  const outbox = { connection, table: `outbox_${name.toLowerCase()}` };
  const transport =
    kind === 'database' ? database({ connection }) : http({ url: WEBHOOKS_URL, token: WEBHOOKS_TOKEN, outbox });
  @Module({
    imports: [
      databaseModule(orm),
      WebhookNotificationModule.forRoot({ application: 'shop', events: [OrderPaid], transport }),
    ],
  })
  class AppModule {}
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['warn', 'error'] });
  const events = app.get(EventsService);
  const publish =
    (what: string): Work =>
    async (tx) => {
      await events.publish(OrderPaid, { id: `${kind} ${name} ${what}`, note: ODD }, { userId: 'alice', tx });
    };
  await orm.transaction(publish('committed'));
  await caught(orm.transaction(failing(publish('rolled back'))));
  await orm.nested?.(publish('outside'), failing(publish('inside')));
  await events.publish(OrderPaid, { id: `${kind} ${name} alone`, note: ODD }, { userId: 'alice' });
  // Of a type that another application has declared: it is looked up while the transaction has the only connection.
  await orm.transaction(async (tx) => {
    await events.publish('order.sent' as never, { id: `${kind} ${name} foreign` } as never, { userId: 'alice', tx });
  });
  const keyed = async (tx: Transaction) => {
    const idempotencyKey = `${kind} ${name}`;
    await events.publish(OrderPaid, { id: idempotencyKey }, { userId: 'alice', tx, idempotencyKey });
  };
  await orm.transaction(keyed);
  await orm.transaction(keyed);
  if (kind === 'http') await relayed(connection, outbox.table);
  await app.close();
}

async function relayed(connection: Transaction, table: string): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const answer = await connection.query(`select count(*)::text as count from ${table}`, []);
    const rows = (Array.isArray(answer) ? answer : (answer as { rows: unknown[] }).rows) as { count: string }[];
    if (rows[0]?.count === '0') return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${table} was not relayed.`);
}

/** Runs the module for tests of applications, and receipts. */
async function testing(name: string, orm: Orm): Promise<void> {
  const { connection } = orm;
  @Module({
    imports: [databaseModule(orm), WebhookNotificationTestingModule.forRoot({ events: [OrderPaid], connection })],
  })
  class AppModule {}
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['warn', 'error'] });
  const events = app.get(TestingEventsService);
  const publish: Work = async (tx) => void (await events.publish(OrderPaid, { id: ODD }, { userId: 'alice', tx }));
  await orm.transaction(publish);
  await caught(orm.transaction(failing(publish)));
  if ((await events.single(OrderPaid)).data.id !== ODD) throw new Error('It has kept something else.');

  const receipts = new PostgresReceipts({
    table: `receipts_${name.toLowerCase()}_${process.pid}`,
    transaction: async <Result>(work: (tx: Transaction) => Promise<Result>) => {
      let result: Result | undefined;
      await orm.transaction(async (tx) => void (result = await work(tx)));
      return result as Result;
    },
  });
  await receipts.prepare();
  await caught(receipts.once(ODD, false, () => Promise.reject(new Error('not handled'))));
  const handled = [await receipts.once(ODD, false, async () => undefined), await receipts.once(ODD, false, fail)];
  if (handled.join() !== 'handled,done') throw new Error(`The receipts say ${handled.join()}.`);
  await app.close();
}

const fail = () => Promise.reject(new Error('It was handled already.'));

/** Prints what became of each library as JSON: `well`, or the error. */
async function main(): Promise<void> {
  const results: Record<string, string> = {};
  for (const [name, make] of Object.entries(ORMS)) {
    try {
      await publishing(name, await make(), 'database');
      await publishing(name, await make(), 'http');
      await testing(name, await make());
      results[name] = 'well';
    } catch (error) {
      results[name] = error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
  }
  process.stdout.write(`${JSON.stringify(results)}\n`);
  process.exit();
}

void main();
