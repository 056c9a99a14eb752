import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions, SCHEMA } from './data-source.launcher';

/**
 * Brings the schema up to date. Any number of processes may call this at once: a session lock lets one of them work.
 * The others wait, and then find nothing to do.
 * @throws Error with a sentence when the database cannot be used, or was made by version 0.1
 */
export async function migrate(databaseUrl: string): Promise<void> {
  await locked(databaseUrl, async () => {
    const dataSource = await new DataSource(dataSourceOptions(databaseUrl, 2)).initialize();
    try {
      await refuseVersion01(dataSource);
      await dataSource.runMigrations({ transaction: 'each' });
    } finally {
      await dataSource.destroy();
    }
  });
}

/** The first migration of version 0.1, whose tables have other columns. */
const VERSION_0_1 = 'InitialSchema1763600000000';

async function refuseVersion01(dataSource: DataSource): Promise<void> {
  const [found] = await dataSource.query<{ table: string | null }[]>('select to_regclass($1) as table', [
    `${SCHEMA}.migrations`,
  ]);
  if (!found?.table) return;
  const old = await dataSource.query<unknown[]>(`select from ${SCHEMA}.migrations where name = $1`, [VERSION_0_1]);
  if (old.length > 0) throw new Error(MADE_BY_0_1);
}

const MADE_BY_0_1 =
  'This database was made by version 0.1 of the service, which 0.2 cannot read. Start with an empty one: set another ' +
  'DATA_DIR or DATABASE_URL, or drop the schemas webhook_service and webhook_service_queue with everything in them.';

/**
 * Makes the schema, which the table of migrations needs.
 * @throws Error with a sentence when the database cannot be used
 */
export async function ensureSchema(databaseUrl: string): Promise<void> {
  await locked(databaseUrl, async () => undefined);
}

async function locked(databaseUrl: string, action: () => Promise<void>): Promise<void> {
  const lock = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  await lock.connect().catch((error: Error) => {
    throw new Error(`The database of DATABASE_URL cannot be used: ${error.message || String(error)}`, { cause: error });
  });
  try {
    await lock.query('select pg_advisory_lock(hashtext($1))', [`${SCHEMA}.migrations`]);
    await lock.query(`create schema if not exists ${SCHEMA}`);
    await action();
  } finally {
    await lock.end();
  }
}
