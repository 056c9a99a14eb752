import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { StatementsService } from '../../../../src/infrastructure/database/statements.service';
import { dataSourceOptions } from '../../../../src/infrastructure/database/data-source.setup';
import { DeferredRepository } from '../../../../src/deliveries/slots/deferred.repository';
import { WaitingRowsRepository } from '../../../../src/deliveries/rows/waiting-rows.repository';
import { OldestDueService } from '../../../../src/deliveries/sweeping/oldest-due.service';
import type { MetricsService } from '../../../../src/infrastructure/metrics/metrics.service';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { insertDueDelivery } from '../../stage/due-delivery';
import { makeDays } from '../../stage/long-log';

describe('Deliveries that wait for a consumer, or that one has leased', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let statements: StatementsService;
  let before: unknown[];

  const rows = () => database.query('select * from webhook_service.deliveries order by id');

  /** One is due for long, one waits for its retry, one is leased, and the leases of two have ended, now and long ago. */
  beforeAll(async () => {
    database = await cloneDatabase();
    await makeDays(database, new Date());
    dataSource = await new DataSource(dataSourceOptions(database.url, 2)).initialize();
    statements = new StatementsService(dataSource);
    const insert = async (due: string, leasedUntil: string) => {
      const key = { webhookId: randomUUID(), userId: 'user' };
      const id = await insertDueDelivery(database, key, null, { due });
      await database.query(
        `update webhook_service.deliveries set leased_until = ${leasedUntil}, claimed = ${leasedUntil} < 'infinity' where id = $1`,
        [id],
      );
    };
    await insert('-1 hour', `'infinity'`);
    await insert('1 hour', `'infinity'`);
    await insert('-1 hour', `now() + interval '10 minutes'`);
    await insert('-1 hour', `now() - interval '1 second'`);
    await insert('-1 hour', `now() - interval '1 minute'`);
    before = await rows();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it('are taken by no sweeper', async () => {
    const waiting = new WaitingRowsRepository(statements, dataSource, {} as never, {} as never);
    expect(await waiting.reclaim(1000, null)).toEqual([]);
    expect(await waiting.deferExpired(1000, null)).toBe(0);
    expect(await waiting.deferAhead(60_000, 1000)).toEqual([]);
    expect(await rows()).toEqual(before);
  });

  it('are not late, and counted by themselves', async () => {
    const ages = await new OldestDueService(statements, { gauge: () => undefined } as object as MetricsService).read(
      1000,
      100,
    );
    expect(ages).toMatchObject({ unattendedDeliveries: 0, pendingDeliveries: 0, deferredDeliveries: 0 });
    expect(await new DeferredRepository(statements).count(100, 1000)).toEqual({ slot: 0, rate: 0, consumer: 2 });
  });
});
