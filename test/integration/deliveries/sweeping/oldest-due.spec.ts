import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import { dataSourceOptions } from '../../../../src/infrastructure/database/data-source.setup';
import type { MetricsService } from '../../../../src/infrastructure/metrics/metrics.service';
import { StatementsService } from '../../../../src/infrastructure/database/statements.service';
import { OLDEST_DUE, type OldestDue, OldestDueService } from '../../../../src/deliveries/sweeping/oldest-due.service';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { makeDays } from '../../stage/long-log';
import { planOf } from '../../stage/plans';

const [ROWS, WEBHOOKS] = [1000, 100];

/** A row that became due `dueAgo` seconds ago, with a lease that ends in `leased` seconds. */
interface Row {
  dueAgo: number;
  leased: number;
  parked?: boolean;
  status?: string;
}

describe('The age of the oldest due row', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await cloneDatabase();
    await makeDays(database, new Date());
    dataSource = await new DataSource(dataSourceOptions(database.url, 2)).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });
  beforeEach(() => database.query('truncate webhook_service.deliveries, webhook_service.events'));

  const insertDeliveries = (rows: readonly Row[], webhookIds = rows.map(() => randomUUID())) =>
    database.query(
      `insert into webhook_service.deliveries
         (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until, parked)
       select id, webhook_id, 'user', id, 'job.started', 'http://127.0.0.1/', 1, 'event', status,
         now() - due_ago * interval '1 second', now() + leased * interval '1 second', parked
       from unnest($1::uuid[], $2::uuid[], $3::text[], $4::integer[], $5::integer[], $6::boolean[])
         as row(id, webhook_id, status, due_ago, leased, parked)`,
      [
        rows.map(() => v7()),
        webhookIds,
        rows.map(({ status = 'pending' }) => status),
        rows.map(({ dueAgo }) => dueAgo),
        rows.map(({ leased }) => leased),
        rows.map(({ parked = false }) => parked),
      ],
    );

  const insertEvent = ({ dueAgo, leased }: Row, fannedOutAt: Date | null = null) =>
    database.query(
      `insert into webhook_service.events (id, name, body, accepted_at, leased_until, fanned_out_at)
       values ($1, 'job.started', '{}', now() - $2 * interval '1 second', now() + $3 * interval '1 second', $4)`,
      [v7(), dueAgo, leased, fannedOutAt],
    );

  /** Reads the ages that are not 0, in tens of seconds, because rows grow older during the test. */
  const read = async (): Promise<Partial<OldestDue>> => {
    const ages = await new OldestDueService(new StatementsService(dataSource), {
      gauge: () => undefined,
    } as object as MetricsService).read(ROWS, WEBHOOKS);
    const seconds = Object.entries(ages).map(([state, age]) => [state, Math.floor(age / 10) * 10] as const);
    return Object.fromEntries(seconds.filter(([, age]) => age !== 0));
  };

  it('is 0 while nothing is due', async () => {
    await insertDeliveries([
      { dueAgo: 900, leased: -900, status: 'succeeded' },
      { dueAgo: -200, leased: 210 },
      { dueAgo: -3, leased: 4 },
    ]);
    await insertEvent({ dueAgo: 900, leased: -900 }, new Date());
    expect(await read()).toEqual({});
  });

  it('is measured for each kind and state', async () => {
    await insertDeliveries([
      { dueAgo: 300, leased: -100 },
      { dueAgo: 200, leased: -6 },
      { dueAgo: 60, leased: 1 },
      { dueAgo: 70, leased: 9 },
      { dueAgo: 2, leased: -2 },
      { dueAgo: 4000, leased: 5, parked: true },
      { dueAgo: 1000, leased: 3000, parked: true },
      { dueAgo: -200, leased: 210 },
    ]);
    await insertEvent({ dueAgo: 50, leased: -40 });
    await insertEvent({ dueAgo: 20, leased: 9 });
    expect(await read()).toEqual({
      unattendedEvents: 50,
      pendingEvents: 20,
      unattendedDeliveries: 300,
      pendingDeliveries: 70,
      deferredDeliveries: 4000,
    });
  });

  it('costs no more for many rows than for a thousand', async () => {
    const many = Array.from({ length: 5000 }, (_, i) => i);
    await insertDeliveries(many.map((i) => ({ dueAgo: 100 + (i % 51), leased: -(100 + (i % 51)) })));
    await insertDeliveries(many.map((i) => ({ dueAgo: 10, leased: i % 10 })));
    const webhooks = Array.from({ length: 200 }, () => randomUUID());
    const deferred = many.map(() => ({ dueAgo: 700, leased: 2900, parked: true }));
    await insertDeliveries(
      deferred,
      many.map((i) => webhooks[i % 200]!),
    );
    await insertDeliveries(many.map(() => ({ dueAgo: 900, leased: -900, status: 'succeeded' })));
    await database.query('vacuum (analyze) webhook_service.deliveries');
    expect(await read()).toEqual({ unattendedDeliveries: 150, pendingDeliveries: 10, deferredDeliveries: 700 });
    // The settings with which a named statement is planned; see `PostgresConnection`.
    const settings = 'set local plan_cache_mode = force_generic_plan; set local enable_seqscan = off';
    const plan = await planOf(dataSource, { sql: OLDEST_DUE.text, parameters: [ROWS, WEBHOOKS], settings });
    expect(plan.indexes.filter((name) => !/^(deliveries|events)_(lease|leased|parked|user_id)/.test(name))).toEqual([]);
    expect(plan.scanned).toBe(0);
    expect(plan.sorted).toBe(0);
    expect(plan.looked).toBeLessThan(2 * ROWS + 20 * WEBHOOKS);
  });
});
