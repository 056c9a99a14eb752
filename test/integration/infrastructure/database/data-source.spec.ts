import { DataSource } from 'typeorm';
import { dataSourceOptions, SCHEMA } from '../../../../src/infrastructure/database/data-source.setup';
import { ensureSchema } from '../../../../src/infrastructure/database/migrator.setup';
import { StatementsService } from '../../../../src/infrastructure/database/statements.service';
import { openTransaction } from '../../../support/open-transaction';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { waitFor } from '../../../support/wait-for';

/** How the service connects, and how its commands and migrations connect. */
const SILENCES_MS = { service: undefined, commands: 0 };

describe('A connection to a server with JIT', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await cloneDatabase();
    await database.query(`alter database ${new URL(database.url).pathname.slice(1)} set jit = on`, []);
  });
  afterAll(() => database.drop());

  it.each(Object.entries(SILENCES_MS))('of the %s disables JIT', async (_, silenceMs) => {
    const dataSource = await new DataSource(dataSourceOptions(database.url, 1, silenceMs)).initialize();
    try {
      expect(await dataSource.query('show jit')).toEqual([{ jit: 'off' }]);
    } finally {
      await dataSource.destroy();
    }
  });
});

describe('A server that allows statements a tenth of a second', () => {
  const SLOW = 'select pg_sleep(0.5)';
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await cloneDatabase();
    await database.query(`alter database ${new URL(database.url).pathname.slice(1)} set statement_timeout = 100`, []);
    dataSource = await new DataSource(dataSourceOptions(database.url, 1)).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it('stops those of the pool, and none of maintenance', async () => {
    await expect(dataSource.query(SLOW)).rejects.toThrow('statement timeout');
    await new StatementsService(dataSource).runAlone(SLOW);
    await new StatementsService(dataSource).runAlone('vacuum webhook_service.recent_attempts');
  });

  it('lets migrations wait for each other', async () => {
    const other = await openTransaction(database, [
      'select pg_advisory_xact_lock(hashtext($1)), pg_sleep(0.05)',
      [`${SCHEMA}.migrations`],
    ]);
    let isDone = false;
    const own = ensureSchema(database.url).then(() => (isDone = true));
    const asking = `select from pg_stat_activity where query like '%pg_try_advisory_lock%' and pid <> pg_backend_pid()`;
    await waitFor(async () => (await database.query(asking)).length > 0, {
      what: 'a migration that asks for the lock',
    });
    await expect(Promise.race([own, dataSource.query(SLOW)])).rejects.toThrow('statement timeout');
    expect(isDone).toBe(false);
    await other.end('rollback');
    await own;
  });
});
