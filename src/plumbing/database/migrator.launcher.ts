import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions, SCHEMA } from './data-source.launcher';

/**
 * Brings the schema up to date. Any number of processes may call this at once: a session lock lets one work while the
 * others wait and then find nothing to do.
 */
export async function migrate(databaseUrl: string): Promise<void> {
  await locked(databaseUrl, async () => {
    const dataSource = await new DataSource(dataSourceOptions(databaseUrl, 2)).initialize();
    try {
      await dataSource.runMigrations({ transaction: 'each' });
    } finally {
      await dataSource.destroy();
    }
  });
}

/** Makes the schema that the table of migrations itself lives in. */
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
