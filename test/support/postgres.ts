import { randomBytes } from 'node:crypto';
import { Client, Pool, type QueryResultRow } from 'pg';

/** Where globalSetup leaves what the test files need; jest's workers inherit the environment. */
export const TEST_DATABASE_URL = 'TEST_DATABASE_URL';

/** The same for the server with its default settings, where this machine has its programs. */
export const TEST_ORDINARY_URL = 'TEST_ORDINARY_URL';

/** `ordinary` or `embedded`: all tests run on that PostgreSQL. Unset: those of publishing and delivering on the ordinary one. */
export const TEST_POSTGRES = 'TEST_POSTGRES';

/** The tests of publishing and delivering, which run on a PostgreSQL with its default settings where there is one. */
const ON_ORDINARY = /\/test\/(integration\/deliveries|e2e\/(events|deliveries))\//;

/** The migrated database that every test file copies. No client may be connected to it while it is copied. */
export const TEMPLATE_DATABASE = 'webhook_service_template';

export interface TestDatabase {
  readonly url: string;
  /** Runs one statement, for state that only the database can show or set up. */
  query<Row extends QueryResultRow>(sql: string, parameters?: unknown[]): Promise<Row[]>;
  /** Closes its own connection and drops the database, even if other clients are connected. */
  drop(): Promise<void>;
}

/** Creates a new, migrated database within some 100 ms. */
export function cloneDatabase(): Promise<TestDatabase> {
  return createDatabase(TEMPLATE_DATABASE);
}

/** Creates a new database from this SQL, such as a dump. */
export async function restoreDatabase(sql: string): Promise<TestDatabase> {
  const database = await createDatabase('template0');
  // A dump changes the settings of its connection.
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
  return database;
}

async function createDatabase(template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administrate(`create database ${name} template ${template}`);
  const url = databaseUrl(name);
  const pool = new Pool({ connectionString: url, max: 1 });
  pool.on('error', () => undefined);
  return {
    url,
    query: async <Row extends QueryResultRow>(sql: string, parameters: unknown[] = []) =>
      (await pool.query<Row>(sql, parameters)).rows,
    drop: async () => {
      await pool.end();
      await administrate(sessionsEnd(name));
      await administrate(`drop database if exists ${name} with (force)`);
    },
  };
}

/** Waits for the sessions of a database, up to a second: a pool ends before they do, and reports one that is terminated as an error. */
const sessionsEnd = (name: string): string => `
  do $$ begin
    for poll in 1..50 loop
      perform pg_stat_clear_snapshot();
      exit when not exists (select from pg_stat_activity where datname = '${name}');
      perform pg_sleep(0.02);
    end loop;
  end $$`;

/** Runs one statement as the owner of the test server, outside every test database. */
export async function administrate(sql: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** The url of a database of the given name on the test server. */
export function databaseUrl(name: string): string {
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  return url.href;
}

function serverUrl(): string {
  const isOnOrdinary = process.env[TEST_ORDINARY_URL] && ON_ORDINARY.test(expect.getState().testPath ?? '');
  const url = process.env[isOnOrdinary ? TEST_ORDINARY_URL : TEST_DATABASE_URL];
  if (!url) throw new Error('No test database: run the tests through jest, whose globalSetup starts PostgreSQL.');
  return url;
}
