import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { AccessToken } from '../../../../src/auth/tokens/access-token.entity';
import type { ClockService } from '../../../../src/infrastructure/database/clock.service';
import { dataSourceOptions, SCHEMA } from '../../../../src/infrastructure/database/data-source.setup';
import { PartitionsService } from '../../../../src/infrastructure/database/partitions.service';
import { migrate } from '../../../../src/infrastructure/database/migrator.setup';
import { Delivery } from '../../../../src/deliveries/rows/delivery.entity';
import { Recovery } from '../../../../src/deliveries/recovery/recovery.entity';
import { Erasure } from '../../../../src/erasures/erasure.entity';
import { Event } from '../../../../src/events/event.entity';
import { Account } from '../../../../src/sources/followers/account.entity';
import { Webhook } from '../../../../src/webhooks/webhook.entity';
import { JobQueue } from '../../../support/job-queue';
import { administrate, databaseUrl } from '../../../support/postgres';

const ENTITIES = [AccessToken, Webhook, Event, Delivery, Recovery, Account, Erasure];

/** Columns that only SQL statements use. */
const UNMAPPED: Record<string, string[]> = {
  deliveries: ['created_in', 'changed_in', 'leased_until', 'lease_id'],
  webhooks: ['filter_hash', 'rate_used_until', 'told_at'],
};

describe('The schema', () => {
  const name = `test_${randomBytes(6).toString('hex')}`;
  let dataSource: DataSource;

  beforeAll(async () => {
    await administrate(`create database ${name}`);
    await Promise.all([migrate(databaseUrl(name)), migrate(databaseUrl(name)), migrate(databaseUrl(name))]);
    dataSource = await new DataSource({ ...dataSourceOptions(databaseUrl(name), 2), entities: ENTITIES }).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await administrate(`drop database ${name} with (force)`);
  });

  const tables = () =>
    dataSource.query<{ name: string }[]>(
      'select table_name as name from information_schema.tables where table_schema = $1',
      [SCHEMA],
    );

  it('is created once, however many processes start at the same time', async () => {
    const migrations = await dataSource.query<unknown[]>(`select * from ${SCHEMA}.migrations`);
    expect(migrations).toHaveLength(dataSource.migrations.length);
  });

  it.each(ENTITIES.map((entity) => [entity.name, entity] as const))(
    'has a column of the same name, type and nullability for every column of %s',
    async (_, entity) => {
      const metadata = dataSource.getMetadata(entity);
      const columns = await dataSource.query<{ column: string; type: string; nullable: boolean }[]>(
        `select column_name as column, udt_name as type, is_nullable = 'YES' as nullable
         from information_schema.columns where table_schema = $1 and table_name = $2`,
        [SCHEMA, metadata.tableName],
      );
      const ofTable = new Map(columns.map(({ column, ...rest }) => [column, rest]));
      const mapped = metadata.columns.filter(({ isVirtualProperty }) => !isVirtualProperty);
      const TYPES: Record<string, string> = { boolean: 'bool', integer: 'int4', smallint: 'int2' };
      for (const { databaseName, type, isArray, isNullable } of mapped) {
        const plain = TYPES[String(type)] ?? String(type);
        const expected = { type: isArray ? `_${plain}` : plain, nullable: isNullable };
        expect({ column: databaseName, ...ofTable.get(databaseName) }).toEqual({ column: databaseName, ...expected });
      }
      const known = [...mapped.map(({ databaseName }) => databaseName), ...(UNMAPPED[metadata.tableName] ?? [])];
      expect([...ofTable.keys()].sort()).toEqual(known.sort());
    },
  );

  it.each([
    ['version 0.1', 'InitialSchema1763600000000', /was made by version 0\.1 .* set another DATA_DIR/],
    ['a newer version', 'Future1999999999999', /newer version .* does not know the migration Future1999999999999/],
  ])('of %s is refused with a clear message, and left unchanged', async (_, migration, message) => {
    const other = `test_${randomBytes(6).toString('hex')}`;
    await administrate(`create database ${other}`);
    const made = await new DataSource({ ...dataSourceOptions(databaseUrl(other), 2), migrations: [] }).initialize();
    try {
      await made.query(`create schema ${SCHEMA}`);
      await made.query(`create table ${SCHEMA}.migrations (id serial, "timestamp" bigint, name text)`);
      await made.query(`insert into ${SCHEMA}.migrations (name) values ($1)`, [migration]);
      await expect(migrate(databaseUrl(other))).rejects.toThrow(message);
      const [count] = await made.query<{ tables: number }[]>(
        'select count(*)::int as tables from information_schema.tables where table_schema = $1',
        [SCHEMA],
      );
      expect(count?.tables).toBe(1);
    } finally {
      await made.destroy();
      await administrate(`drop database ${other} with (force)`);
    }
  });

  it('can be replicated logically: every row that is changed or deleted can be identified', async () => {
    const queueSchema = `${SCHEMA}_queue`;
    const queue = JobQueue.open('{send-0}', { databaseUrl: databaseUrl(name), schema: queueSchema });
    await queue.bull.getJobCounts();
    await queue.close();
    const unidentified = await dataSource.query<unknown[]>(
      `select c.oid::regclass as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = any($1) and c.relkind in ('r', 'p') and c.relpersistence = 'p' and c.relreplident <> 'f'
         and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`,
      [[SCHEMA, queueSchema]],
    );
    expect(unidentified).toEqual([]);
  });

  it('is dropped and created again by its migrations', async () => {
    const before = await tables();
    for (let i = 0; i < dataSource.migrations.length; i++) await dataSource.undoLastMigration();
    expect(await tables()).toEqual([{ name: 'migrations' }]);
    await dataSource.runMigrations();
    expect((await tables()).length).toBe(before.length);
  });

  it('gets days that are vacuumed long before a fifth of their rows is dead', async () => {
    const partitions = new PartitionsService(dataSource, { now: () => new Date() } as ClockService);
    await partitions.onModuleInit();
    await partitions.onApplicationShutdown();
    const options = await dataSource.query<unknown[]>(
      `select distinct c.reloptions from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent in ('webhook_service.events'::regclass, 'webhook_service.deliveries'::regclass)`,
    );
    expect(options).toEqual([
      { reloptions: ['autovacuum_vacuum_scale_factor=0.05', 'autovacuum_vacuum_threshold=5000'] },
    ]);
  });
});
