import { Pool } from 'pg';
import { PostgresConnection } from '../../../../src/infrastructure/database/postgres-connection.client';
import { isDatabaseReadOnly, isDatabaseUnavailable } from '../../../../src/infrastructure/errors/database-error';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { waitFor } from '../../../support/wait-for';

describe('A connection to a read-only server', () => {
  let database: TestDatabase;
  let pool: Pool;
  const broken: Error[] = [];

  beforeAll(async () => {
    database = await cloneDatabase();
    await database.query('create table written (number integer)');
    const options = { connectionString: database.url, max: 1, idleTimeoutMillis: 0, silenceMs: 2000 };
    pool = new Pool({ ...options, Client: PostgresConnection });
    pool.on('error', (error) => broken.push(error));
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  const WRITE = 'insert into written values (1)';
  const refuseWrites = () => pool.query('set default_transaction_read_only = on');
  const pidOf = async () => (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;

  it('is closed after the refused statement, although its pool gets no error', async () => {
    const pid = await pidOf();
    await refuseWrites();
    const client = await pool.connect();
    const error: unknown = await client.query(WRITE).catch((reason: unknown) => reason);
    client.release();
    expect([isDatabaseReadOnly(error), isDatabaseUnavailable(error)]).toEqual([true, true]);
    await pool.query(WRITE);
    expect(await pidOf()).not.toBe(pid);
  });

  it('is closed only at the end of the refused transaction', async () => {
    const pid = await pidOf();
    await refuseWrites();
    const client = await pool.connect();
    await client.query('begin');
    await expect(client.query(WRITE)).rejects.toThrow('read-only transaction');
    await client.query('rollback');
    client.release();
    await pool.query(WRITE);
    expect(await pidOf()).not.toBe(pid);
  });

  it('is closed even while it is idle', async () => {
    const pid = await pidOf();
    await refuseWrites();
    await waitFor(() => broken.length > 0, { what: 'the end of the idle connection' });
    expect(broken.map(isDatabaseReadOnly)).toEqual([true]);
    expect(await pidOf()).not.toBe(pid);
  });
});
