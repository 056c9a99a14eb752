import { Pool, type PoolConfig } from 'pg';
import { PostgresConnection, type PostgresConnectionConfig } from '../../src/database/postgres-connection.client';
import { isDatabaseUnavailable } from '../../src/errors/database-error';
import { cloneDatabase, type TestDatabase } from '../support/postgres';
import { startProxy, type TcpProxy } from '../support/proxy';
import { waitFor } from '../support/wait-for';

describe('A connection to PostgreSQL', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let pool: Pool;

  beforeAll(async () => {
    database = await cloneDatabase();
    const url = new URL(database.url);
    proxy = await startProxy(Number(url.port));
    url.port = String(proxy.port);
    const options: PoolConfig & PostgresConnectionConfig = { connectionString: url.href, max: 1, silenceMs: 300 };
    pool = new Pool({ ...options, Client: PostgresConnection });
  });
  afterAll(async () => {
    await pool.end();
    await proxy.stop();
    await database.drop();
  });

  it('that the network has swallowed is given up, and its pool makes a new one', async () => {
    await pool.query('select 1');
    proxy.blackHole();
    const error: unknown = await pool.query('select 2').catch((reason: unknown) => reason);
    expect(isDatabaseUnavailable(error)).toBe(true);
    await proxy.pass();
    expect((await pool.query('select 3 as three')).rows).toEqual([{ three: 3 }]);
  });

  it('may be idle for as long as it likes', async () => {
    const pidOf = async () => (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
    const pid = await pidOf();
    const isLongIdle = async () => {
      const idle = `select from pg_stat_activity where pid = $1 and now() - state_change > interval '600 ms'`;
      return (await database.query(idle, [pid])).length > 0;
    };
    await waitFor(isLongIdle, { what: 'a connection that is idle for longer than an answer may take' });
    expect(await pidOf()).toBe(pid);
  });

  it('plans a statement that has a name once, and any other for its values', async () => {
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
