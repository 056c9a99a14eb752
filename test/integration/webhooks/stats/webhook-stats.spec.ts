import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import { StatsRepository } from '../../../../src/webhooks/stats/stats.repository';
import { StatsService } from '../../../../src/webhooks/stats/stats.service';
import { useApplication } from '../../stage/application';
import { planOf, statementsAbout } from '../../stage/plans';

const INSERT_DELIVERIES = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, attempt, trigger, status, url, scheduled_at, completed_at, leased_until)
  select id, $2, 'ada', id, 'job.started', 1, $3, $4, 'https://example.com/', now() + n * interval '1 hour',
         now() - (cardinality($1::uuid[]) - n) * interval '1 second', now() + interval '1 day'
  from unnest($1::uuid[]) with ordinality as t (id, n)`;

const COUNT_ATTEMPT = `
  insert into webhook_service.recent_attempts (webhook_id, user_id, status, error_code, duration_class, at, count)
  values ($1, 'ada', $2, '', 1, now() - $3 * interval '1 second', 1)`;

describe('The state of webhooks', () => {
  const { app, database } = useApplication();

  const insert = (webhookId: string, status: string, count: number, trigger = 'event') =>
    database.query(INSERT_DELIVERIES, [Array.from({ length: count }, () => v7()), webhookId, trigger, status]);
  const failedAt = async (webhookId: string, agoS: number) => {
    const [row] = await database.query<{ at: Date }>(
      `select completed_at as at from webhook_service.deliveries where webhook_id = $1 and status = 'failed' and trigger = 'event'
       order by completed_at desc offset $2 limit 1`,
      [webhookId, agoS],
    );
    return row!.at;
  };
  const stateOf = async (webhookId: string) => (await app.get(StatsService).ofWebhooks([webhookId])).get(webhookId);

  it('returns the first of fewer than 1,000 failures without a success', async () => {
    const webhookId = randomUUID();
    await insert(webhookId, 'failed', 999);
    await insert(webhookId, 'failed', 1, 'test');
    await database.query(COUNT_ATTEMPT, [webhookId, 'failed', 0]);
    // The row of the test is the newest of the thousand.
    expect(await stateOf(webhookId)).toMatchObject({ failingSince: null });
    await database.query(`delete from webhook_service.deliveries where webhook_id = $1 and trigger = 'test'`, [
      webhookId,
    ]);
    expect(await stateOf(webhookId)).toMatchObject({ failingSince: await failedAt(webhookId, 998) });
  });

  it('returns the first of 1,000 failures after a success, and none beyond', async () => {
    const webhookId = randomUUID();
    await insert(webhookId, 'failed', 1500);
    await database.query(COUNT_ATTEMPT, [webhookId, 'failed', 0]);
    expect(await stateOf(webhookId)).toMatchObject({ failingSince: null });
    await database.query(COUNT_ATTEMPT, [webhookId, 'succeeded', 1400]);
    expect(await stateOf(webhookId)).toMatchObject({ failingSince: null });
    await database.query(COUNT_ATTEMPT, [webhookId, 'succeeded', 500]);
    const { failingSince, lastSuccessAt } = (await stateOf(webhookId))!;
    expect(failingSince!.getTime() - lastSuccessAt!.getTime()).toBeGreaterThan(0);
    expect(failingSince!.getTime() - lastSuccessAt!.getTime()).toBeLessThanOrEqual(1000);
    await database.query(COUNT_ATTEMPT, [webhookId, 'succeeded', -1]);
    expect(await stateOf(webhookId)).toMatchObject({ failingSince: null });
  });

  it('returns when the earliest of up to 1,000 pending deliveries is due', async () => {
    const webhookId = randomUUID();
    await insert(webhookId, 'pending', 1, 'test');
    expect(await stateOf(webhookId)).toMatchObject({ pending: 0, nextDueAt: null });
    await insert(webhookId, 'pending', 1200);
    const { pending, nextDueAt } = (await stateOf(webhookId))!;
    expect(pending).toBe(1000);
    expect(Math.round((nextDueAt!.getTime() - Date.now()) / 3_600_000)).toBe(1);
  });

  it('counts the attempts of the last hour', async () => {
    const webhookId = randomUUID();
    for (const [status, agoS] of [
      ['succeeded', 10],
      ['failed', 20],
      ['failed', 3500],
      ['failed', 3700],
      ['canceled', 5],
    ])
      await database.query(COUNT_ATTEMPT, [webhookId, status, agoS]);
    expect(await stateOf(webhookId)).toMatchObject({ succeededLastHour: 1, failedLastHour: 2 });
    while (await app.get(StatsRepository).rollUp());
    const { succeededLastHour, failedLastHour } = (await stateOf(webhookId))!;
    expect(succeededLastHour).toBe(1);
    // The five minutes that the hour begins in do not count.
    expect([1, 2]).toContain(failedLastHour);
  });

  it('is read in two statements for 250 webhooks, and reads no more rows than it returns', async () => {
    const failing = randomUUID();
    await insert(failing, 'failed', 3000);
    await insert(failing, 'pending', 3000);
    await database.query(COUNT_ATTEMPT, [failing, 'failed', 0]);
    await database.query('analyze webhook_service.deliveries');
    const ids = [failing, ...Array.from({ length: 249 }, () => randomUUID())];
    const dataSource = app.get(DataSource);
    const ofPool = jest.spyOn((dataSource.driver as unknown as { master: Pool }).master, 'query');
    const ofTypeorm = await statementsAbout('deliveries', dataSource, () => app.get(StatsService).ofWebhooks(ids));
    // Loops of the service run statements meanwhile.
    const named = (ofPool.mock.calls as unknown as [{ name: string }][]).map(([{ name }]) => name);
    expect([ofTypeorm.length, named.filter((name) => /_of_webhooks?$/.test(name)).length]).toEqual([1, 1]);
    ofPool.mockRestore();
    expect((await planOf(dataSource, ofTypeorm[0]!)).looked).toBeLessThan(2 * 1000 + 100);
  });
});
