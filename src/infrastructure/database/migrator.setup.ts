import { setTimeout as pause } from 'node:timers/promises';
import { type Client, escapeIdentifier } from 'pg';
import { DataSource } from 'typeorm';
import { isDatabaseReadOnly } from '../errors/database-error';
import { dataSourceOptions, SCHEMA } from './data-source.setup';
import { PostgresConnection, type PostgresConnectionConfig } from './postgres-connection.client';

const LOCK_POLL_MS = 100;
/** Ten times what a migration of ten million rows takes. */
const MAX_WAIT_MS = 10 * 60_000;

/**
 * Migrates the schema to the current version. Any number of processes may call this at once: a session lock lets one of
 * them migrate, and the others wait and then find nothing to do.
 * @throws Error with a readable message when the database cannot be used, or belongs to version 0.1 or to a newer
 *   version, or when another process migrates for longer than `maxWaitMs`
 */
export async function migrate(databaseUrl: string, maxWaitMs = MAX_WAIT_MS): Promise<void> {
  await locked(
    databaseUrl,
    async () => {
      const dataSource = await new DataSource(dataSourceOptions(databaseUrl, 2, 0)).initialize();
      try {
        await refuseOtherVersions(dataSource);
        await dataSource.runMigrations({ transaction: 'each' });
      } finally {
        await dataSource.destroy();
      }
    },
    maxWaitMs,
  );
}

/** The first migration of version 0.1, whose tables have other columns. */
const VERSION_0_1 = 'InitialSchema1763600000000';

/** TypeORM ignores unknown migrations, and would let this version write to tables of a newer one. */
async function refuseOtherVersions(dataSource: DataSource): Promise<void> {
  const [found] = await dataSource.query<{ table: string | null }[]>('select to_regclass($1) as table', [
    `${SCHEMA}.migrations`,
  ]);
  if (!found?.table) return;
  const done = await dataSource.query<{ name: string }[]>(`select name from ${SCHEMA}.migrations order by id`);
  if (done.some(({ name }) => name === VERSION_0_1)) throw new Error(MADE_BY_0_1);
  const known = new Set(dataSource.migrations.map(({ name }) => name));
  const newer = done.find(({ name }) => !known.has(name));
  if (newer) throw new Error(madeByNewer(newer.name));
}

const MADE_BY_0_1 =
  'This database was made by version 0.1 of the service, and no later version can read it. Start with an empty one: set ' +
  'another DATA_DIR or DATABASE_URL, or drop the schemas webhook_service and webhook_service_queue with everything in ' +
  'them. "From 0.1" in docs/upgrades.md says how to keep webhooks and tokens.';

const madeByNewer = (migration: string): string =>
  `A newer version of the service has migrated this database: this version does not know the migration ${migration}. ` +
  'Start the newer version, or restore a backup from before the upgrade.';

/** Creates the schema, which the table of migrations requires. */
export async function ensureSchema(databaseUrl: string): Promise<void> {
  await locked(databaseUrl, async () => undefined, MAX_WAIT_MS);
}

const READ_ONLY =
  'The database of DATABASE_URL takes no writes: it is a standby, or default_transaction_read_only is on. ' +
  'Connect to the primary, or allow writes.';

async function locked(databaseUrl: string, action: () => Promise<void>, maxWaitMs: number): Promise<void> {
  const lock = await connect(databaseUrl, WATCHED);
  // The connection of the lock, which is watched, tells that a server has stopped to answer during a long statement.
  const lost = new Promise<never>((_, reject) => lock.once('end', () => reject(new Error(LOST))));
  const run = async (): Promise<void> => {
    await refuseUnfit(lock);
    await refusePoolers(lock, databaseUrl);
    await acquire(lock, Date.now() + maxWaitMs);
    await lock.query(`create schema if not exists ${SCHEMA}`);
    await action();
  };
  try {
    await Promise.race([run(), lost]);
  } catch (error) {
    throw isDatabaseReadOnly(error) ? new Error(READ_ONLY, { cause: error }) : explained(error, lock);
  } finally {
    await lock.end();
  }
}

/** Polls, so that no statement waits for long on a connection that is watched. */
async function acquire(lock: Client, deadline: number): Promise<void> {
  for (;;) {
    const { rows } = await lock.query<{ locked: boolean }>('select pg_try_advisory_lock(hashtext($1)) as locked', [
      `${SCHEMA}.migrations`,
    ]);
    if (rows[0]?.locked) return;
    if (Date.now() > deadline) throw new Error(MIGRATES_TOO_LONG);
    await pause(LOCK_POLL_MS);
  }
}

const OLDEST_VERSION = 150_000;

/** BullMQ's functions and many names need UTF-8, the statements of the service PostgreSQL 15, and a start writes. */
async function refuseUnfit(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: string; number: number; encoding: string; readOnly: string }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
            current_setting('server_encoding') as encoding, current_setting('transaction_read_only') as "readOnly"`,
  );
  const { version, number, encoding, readOnly } = rows[0]!;
  if (readOnly === 'on') throw new Error(READ_ONLY);
  if (number < OLDEST_VERSION) {
    throw new Error(
      `The server of DATABASE_URL is PostgreSQL ${version}: the service requires PostgreSQL 15 or newer. Upgrade it, or set ` +
        'DATABASE_URL to another one.',
    );
  }
  if (encoding === 'UTF8') return;
  throw new Error(
    `The database of DATABASE_URL has the encoding ${encoding}, and the service requires UTF8. Create another one, and set ` +
      `DATABASE_URL to it: ${createDatabase(`${client.database}_utf8`, client)}`,
  );
}

const createDatabase = (name: string | undefined, { user = '' }: Client): string =>
  `create database ${escapeIdentifier(name ?? '')} owner ${escapeIdentifier(user)} encoding 'UTF8' template template0;`;

/** Adds what an operator can do about an error of PostgreSQL. Its own message holds neither url nor password. */
function explained(error: unknown, client: Client): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  const [database, role] = [client.database, client.user].map((name) => escapeIdentifier(name ?? ''));
  const remedy: Partial<Record<string, string>> = {
    '3D000': `Create it as an administrator: ${createDatabase(client.database, client)}`,
    '28P01':
      'Check user and password of DATABASE_URL, or of its file; the characters @ / ? # % are written %40 %2F %3F %23 %25.',
    '28000': 'Check the user of DATABASE_URL, and what pg_hba.conf of the server allows.',
    '42501': `Run as an administrator, in this database: grant create on database ${database} to ${role}; or create the schemas yourself: create schema ${SCHEMA} authorization ${role}; create schema ${SCHEMA}_queue authorization ${role};`,
    '53300': 'Raise max_connections of the server, or lower DATABASE_POOL_SIZE of the processes.',
    ENOTFOUND: 'Check the host of DATABASE_URL.',
    EAI_AGAIN: 'The name servers of this machine do not answer.',
    ECONNREFUSED: 'Check host and port of DATABASE_URL, and that the server runs.',
    ENOENT: 'Check the folder of its socket: host= of DATABASE_URL.',
  };
  const advice = remedy[code ?? ''];
  const text = message || code || String(error);
  return advice === undefined
    ? (error as Error)
    : new Error(`${text.replace(/\.?$/, '.')} ${advice}`, { cause: error });
}

const LOST = 'The connection to the database of DATABASE_URL was lost during the start.';
const MIGRATES_TOO_LONG =
  'Another process has been migrating the database for minutes: wait until it is ready, or end it, and start again. ' +
  `To find it: select pid, query from pg_stat_activity join pg_locks using (pid) where locktype = 'advisory'.`;

async function refusePoolers(first: Client, databaseUrl: string): Promise<void> {
  const second = await connect(databaseUrl, WATCHED);
  try {
    await refuseSharedSessions(first, second);
  } finally {
    await second.end();
  }
}

/** For connections whose statements are all quick: they end when the server stops to answer. */
export const WATCHED: PostgresConnectionConfig = { isUnlimited: true, silenceMs: undefined };

/** Connects, or throws an Error with a readable message. */
export async function connect(databaseUrl: string, options: PostgresConnectionConfig = {}): Promise<Client> {
  const client = new PostgresConnection({
    ...{ connectionString: databaseUrl, connectionTimeoutMillis: 10_000, silenceMs: 0 },
    ...options,
  });
  await client.connect().catch((error: Error) => {
    const { message } = explained(error, client);
    throw new Error(`The database of DATABASE_URL cannot be used: ${message || String(error)}`, { cause: error });
  });
  return client;
}

/** Unique among all servers that an address may lead to. */
const SESSION = `select concat_ws(' ', pg_backend_pid(), pg_postmaster_start_time()) as session`;
/** Some poolers keep a connection on its server once it has a setting, as every connection of the service does. */
const SETTING = `set webhook_service.session = ''`;
/** Repeated because other clients of the pooler take and release servers at random. */
const ROUNDS = 5;

const SHARED_SESSIONS =
  'DATABASE_URL leads to a connection pooler in transaction or statement mode, but every connection of the service ' +
  'requires a session of its own: let the pooler use session mode (PgBouncer: pool_mode = session), or connect to ' +
  'PostgreSQL directly.';

/**
 * Throws when a pooler gives two connections to the same address one session, or changes the session of one of them
 * after a statement. An idle pooler gives `second` the session that `first` has just used, or its servers in turn.
 */
export async function refuseSharedSessions(first: Client, second: Client): Promise<void> {
  for (const client of [first, second]) await client.query(SETTING);
  const known = new Map<Client, string>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const client of [first, second, second, first]) {
      const session = await sessionOf(client);
      const isOther = session !== (known.get(client) ?? session);
      known.set(client, session);
      if (isOther || known.get(first) === known.get(second)) throw new Error(SHARED_SESSIONS);
    }
  }
}

async function sessionOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ session: string }>(SESSION);
  return rows[0]?.session ?? '';
}
