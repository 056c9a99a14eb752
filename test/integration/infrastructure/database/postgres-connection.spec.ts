import { type Client, Pool, type PoolConfig } from 'pg';
import {
  PostgresConnection,
  type PostgresConnectionConfig,
} from '../../../../src/infrastructure/database/postgres-connection.client';
import { isDatabaseUnavailable } from '../../../../src/infrastructure/errors/database-error';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { startProxy, type TcpProxy } from '../../../support/proxy';
import { waitFor } from '../../../support/wait-for';

/** Hundreds of times the usual response time. */
const SILENCE_MS = 2000;

describe('A connection to PostgreSQL', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let pool: Pool;

  beforeAll(async () => {
    database = await cloneDatabase();
    const url = new URL(database.url);
    proxy = await startProxy(Number(url.port));
    url.port = String(proxy.port);
    const options: PoolConfig & PostgresConnectionConfig = {
      connectionString: url.href,
      max: 1,
      silenceMs: SILENCE_MS,
    };
    pool = new Pool({ ...options, idleTimeoutMillis: 0, Client: PostgresConnection });
  });
  afterAll(async () => {
    await pool.end();
    await proxy.stop();
    await database.drop();
  });

  it('is closed when the network drops its packets, and its pool opens a new one', async () => {
    await pool.query('select 1');
    proxy.blackHole();
    const error: unknown = await pool.query('select 2').catch((reason: unknown) => reason);
    expect(isDatabaseUnavailable(error)).toBe(true);
    await proxy.pass();
    expect((await pool.query('select 3 as three')).rows).toEqual([{ three: 3 }]);
  });

  const pidOf = async () => (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
  const isTrue = async (condition: string, pid?: number) =>
    (await database.query(`select from pg_stat_activity where pid = $1 and ${condition}`, [pid])).length > 0;

  it('may be idle for any time, because it is checked now and then', async () => {
    const pid = await pidOf();
    const isQueried = () =>
      isTrue(`query = 'select 1' and query_start - backend_start > interval '${3 * SILENCE_MS} ms'`, pid);
    await waitFor(isQueried, { what: 'a check of a connection that has long been idle' });
    expect(await pidOf()).toBe(pid);
  });

  it('is closed when the network drops its packets after a long idle time', async () => {
    const pid = await pidOf();
    const isOld = () => isTrue(`now() - backend_start > interval '${2 * SILENCE_MS} ms'`, pid);
    await waitFor(isOld, { what: 'a connection that has been idle for longer than a response may take' });
    proxy.blackHole();
    const error: unknown = await pool.query('select 2').catch((reason: unknown) => reason);
    expect(isDatabaseUnavailable(error)).toBe(true);
    await proxy.pass();
    expect(await pidOf()).not.toBe(pid);
  });

  it('is closed while it is idle when the network drops its packets', async () => {
    await pidOf();
    const isGone = new Promise<void>((resolve) => pool.once('remove', () => resolve()));
    pool.once('error', () => undefined);
    proxy.blackHole();
    await isGone;
    await proxy.pass();
    expect((await pool.query('select 3 as three')).rows).toEqual([{ three: 3 }]);
  });

  it('sets its options by SQL before the first statement, and does not open when that fails', async () => {
    const settings = { connectionString: database.url, max: 1, Client: PostgresConnection };
    const text = `select current_setting('search_path') as path, current_setting('work_mem') as memory`;
    const set = new Pool({ ...settings, options: '-c work_mem=1MB -c search_path="Elsewhere"' });
    const unset = new Pool({ ...settings, options: '-c work_mem=all' });
    try {
      expect((await set.query(text)).rows).toEqual([{ path: '"Elsewhere"', memory: '1MB' }]);
      await expect(unset.query(text)).rejects.toThrow('invalid value for parameter "work_mem"');
      expect(unset.totalCount).toBe(0);
      const left = `select from pg_stat_activity where datname = current_database() and query ~ '^\\s*select set_config'`;
      await waitFor(async () => (await database.query(left)).length === 0, { what: 'the end of its connection' });
    } finally {
      await Promise.all([set.end(), unset.end()]);
    }
  });

  it('finds all rows of an index, whatever the default of the database', async () => {
    const url = `${database.url}?options=${encodeURIComponent('-c gin_fuzzy_search_limit=1')}`;
    const client: Client = new PostgresConnection({ connectionString: url });
    await client.connect();
    expect((await client.query('show gin_fuzzy_search_limit')).rows).toEqual([{ gin_fuzzy_search_limit: '0' }]);
    await client.end();
  });

  describe('ends statements', () => {
    const limitsOf = async (config: PostgresConnectionConfig, url = database.url) => {
      const client: Client = new PostgresConnection({ connectionString: url, ...config });
      await client.connect();
      try {
        const names = ['statement_timeout', 'client_connection_check_interval'];
        const { rows } = await client.query<{ setting: string }>(
          'select setting from pg_settings where name = any($1) order by name desc',
          [names],
        );
        return rows.map(({ setting }) => Number(setting));
      } finally {
        await client.end();
      }
    };
    const withDefaults = (options: string) => `${database.url}?options=${encodeURIComponent(options)}`;

    it('when their client gives up, unless it is for maintenance', async () => {
      expect(await limitsOf({})).toEqual([8000, 1000]);
      expect(await limitsOf({ silenceMs: SILENCE_MS })).toEqual([SILENCE_MS, 1000]);
      expect(await limitsOf({ silenceMs: 0 })).toEqual([0, 1000]);
      expect(await limitsOf({ silenceMs: SILENCE_MS, isUnlimited: true })).toEqual([0, 1000]);
    });

    it('at the limits of the administrator where these are smaller, and never of maintenance', async () => {
      const strict = withDefaults('-c statement_timeout=5s -c client_connection_check_interval=300ms');
      expect(await limitsOf({}, strict)).toEqual([5000, 300]);
      expect(await limitsOf({ silenceMs: 0 }, strict)).toEqual([0, 300]);
      const lax = withDefaults('-c statement_timeout=1min -c client_connection_check_interval=1h');
      expect(await limitsOf({}, lax)).toEqual([8000, 1000]);
    });

    it('never because their connection was idle, as one that listens is', async () => {
      const client: Client = new PostgresConnection({ connectionString: withDefaults('-c idle_session_timeout=1h') });
      await client.connect();
      expect((await client.query('show idle_session_timeout')).rows).toEqual([{ idle_session_timeout: '0' }]);
      await client.end();
    });

    const running = (marker: string) =>
      database.query(`select from pg_stat_activity where state = 'active' and query like $1`, [`%${marker}%pg_sleep%`]);

    it('within a second after the connection was closed', async () => {
      const connection = new PostgresConnection({ connectionString: database.url });
      const client: Client = connection;
      await client.connect();
      const outcome = client.query(`select 'abandoned', pg_sleep(1000)`).catch((error: Error) => error.message);
      await waitFor(async () => (await running('abandoned')).length === 1, { what: 'the statement' });
      connection.connection.stream.destroy();
      await outcome;
      // eslint-disable-next-line no-restricted-syntax -- a promise: within a second
      await waitFor(async () => (await running('abandoned')).length === 0, { what: 'its end', timeoutMs: 10_000 });
    });

    it('of a client that the network has cut off without a word', async () => {
      const client = await pool.connect();
      const outcome = client.query(`select 'cut off', pg_sleep(1000)`).catch((error: Error) => error);
      await waitFor(async () => (await running('cut off')).length === 1, { what: 'the statement' });
      proxy.blackHole();
      expect(isDatabaseUnavailable(await outcome)).toBe(true);
      client.release(true);
      // The statement would take until the end of the test otherwise.
      await waitFor(async () => (await running('cut off')).length === 0, { what: 'its end' });
      await proxy.pass();
    });
  });

  it('plans a named statement once, and any other for its values', async () => {
    const text = `select current_setting('plan_cache_mode') as mode, current_setting('enable_seqscan') as "scans"`;
    const named = { name: 'modes', text };
    const [once, eachTime] = [
      { mode: 'force_generic_plan', scans: 'off' },
      { mode: 'auto', scans: 'on' },
    ];
    for (const [query, expected] of [
      [text, eachTime],
      [named, once],
      [named, once],
      [text, eachTime],
    ] as const) {
      expect((await pool.query(query)).rows).toEqual([expected]);
    }
    await pool.query(named);
    const client = await pool.connect();
    try {
      await client.query('begin');
      expect((await client.query(text)).rows).toEqual([eachTime]);
      await client.query('rollback');
      expect((await client.query(text)).rows).toEqual([eachTime]);
    } finally {
      client.release();
    }
  });
});
