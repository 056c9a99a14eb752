import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { StatementsService } from '../../../../src/infrastructure/database/statements.service';
import { StatsRepository } from '../../../../src/webhooks/stats/stats.repository';
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

const sumOf = (counted: readonly { count: number }[]): number => counted.reduce((sum, { count }) => sum + count, 0);
