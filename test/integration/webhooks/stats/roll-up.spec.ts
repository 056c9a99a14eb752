import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { HOUR_MS } from '../../../../src/infrastructure/config/durations';
import { dataSourceOptions } from '../../../../src/infrastructure/database/data-source.setup';
import { StatementsService } from '../../../../src/infrastructure/database/statements.service';
import { StatsRepository } from '../../../../src/webhooks/stats/stats.repository';
import { openTransaction } from '../../../support/open-transaction';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';

const WEBHOOKS = 20;
const ROUNDS = 50;
const ROWS = 200;

describe('Recent attempts', () => {
  let database: TestDatabase;
  let pool: Pool;
  let counts: StatsRepository;
  beforeEach(async () => {
    database = await cloneDatabase();
    pool = new Pool({ connectionString: database.url, max: 6 });
    counts = new StatsRepository(new StatementsService({ driver: { master: pool } } as unknown as DataSource));
  });
  afterEach(async () => {
    await pool.end();
    await database.drop();
  });

  it('are all counted while more are added and four processes sum them up', async () => {
    const ids = Array.from({ length: WEBHOOKS }, () => randomUUID());
    const now = Date.now();
    const window = { stepMs: 3_600_000, froms: [new Date(Math.floor(now / 3_600_000) * 3_600_000)] };
    let isOver = false;
    const sumUp = async () => {
      while (!isOver) await counts.rollUp();
    };
    const count = async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await pool.query(
          `insert into webhook_service.recent_attempts
           select ($1::uuid[])[1 + n % $2], 'ada', 'succeeded', '', n % 3, $3, 1 from generate_series(1, $4::int) as n`,
          [ids, WEBHOOKS, new Date(now), ROWS],
        );
        // Reads include every recorded attempt, whether it is summed up or not.
        expect(sumOf(await counts.ofWebhooks(ids, window))).toBe((round + 1) * ROWS);
      }
    };
    await Promise.all([...Array.from({ length: 4 }, sumUp), count().finally(() => (isOver = true))]);
    expect(await counts.rollUp()).toBe(false);
    const [left] = await database.query<{ recent: number }>(
      'select count(*)::int as recent from webhook_service.recent_attempts',
    );
    expect(left).toEqual({ recent: 0 });
    const each = await counts.ofWebhooks(ids, window);
    expect(new Set(each.map(({ webhookId }) => webhookId)).size).toBe(WEBHOOKS);
    expect(sumOf(each)).toBe(ROUNDS * ROWS);
    expect(sumOf(await counts.ofUser('ada', window))).toBe(ROUNDS * ROWS);
  });
});

describe('Counts of users', () => {
  it('that another transaction has locked wait, and those of others do not', async () => {
    const database = await cloneDatabase();
    const dataSource = await new DataSource(dataSourceOptions(database.url, 2)).initialize();
    const counts = new StatsRepository(new StatementsService(dataSource));
    const since = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS);
    const window = { stepMs: HOUR_MS, froms: [since] };
    const add = () =>
      database.query(
        `insert into webhook_service.recent_attempts
         select gen_random_uuid(), user_id, 'succeeded', '', 1, $1, 1 from unnest('{ada,bob}'::text[]) as user_id`,
        [since],
      );
    const waiting = () =>
      database.query(
        'select user_id as "user", count(*)::int as attempts from webhook_service.recent_attempts group by 1',
      );
    await add();
    await counts.rollUp();
    const lock = `select from webhook_service.user_attempt_counts where user_id = 'ada' for update`;
    const foreign = await openTransaction(database, [lock, []]);
    await add();
    await counts.rollUp();
    expect(await waiting()).toEqual([{ user: 'ada', attempts: 1 }]);
    await foreign.end('rollback');
    await counts.rollUp();
    expect(await waiting()).toEqual([]);
    for (const user of ['ada', 'bob']) expect(sumOf(await counts.ofUser(user, window))).toBe(2);
    await dataSource.destroy();
    await database.drop();
  });
});

const sumOf = (counted: readonly { count: number }[]): number => counted.reduce((sum, { count }) => sum + count, 0);
