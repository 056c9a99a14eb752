import { DataSource } from 'typeorm';
import type { ClockService } from '../../../../src/infrastructure/database/clock.service';
import { dataSourceOptions } from '../../../../src/infrastructure/database/data-source.setup';
import { dayPartitions } from '../../../../src/infrastructure/database/partitions';
import { PartitionsService } from '../../../../src/infrastructure/database/partitions.service';
import { openTransaction } from '../../../support/open-transaction';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { waitFor } from '../../../support/wait-for';

const SILENCE_MS = 500;
/** They take three times `SILENCE_MS`. */
const POLLS = 30;

describe('A process that starts while another creates partitions on a slow disk', () => {
  const now = new Date(Date.UTC(2100, 0, 1));
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await cloneDatabase();
    dataSource = await new DataSource(dataSourceOptions(database.url, 2, SILENCE_MS)).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it('waits longer than a silent connection lasts, and starts', async () => {
    const lock = 'select pg_advisory_xact_lock(hashtext($1))';
    const other = await openTransaction(database, [lock, ['webhook_service.partitions']]);
    const transactions = jest.spyOn(dataSource, 'transaction');
    const partitions = new PartitionsService(dataSource, { now: () => now } as ClockService);
    let isSettled = false;
    const start = partitions.onModuleInit().finally(() => (isSettled = true));
    await Promise.all([
      expect(start).resolves.toBeUndefined(),
      waitFor(() => isSettled || transactions.mock.calls.length > POLLS, { what: 'polls for the lock' }).finally(() =>
        other.end('commit'),
      ),
    ]);
    await partitions.onApplicationShutdown();
    const wanted = dayPartitions('events', now, -1, 7).map(({ name }) => name);
    expect(await database.query('select from pg_tables where tablename = any($1)', [wanted])).toHaveLength(
      wanted.length,
    );
  });
});
