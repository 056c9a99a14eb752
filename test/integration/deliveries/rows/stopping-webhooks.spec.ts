import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { CancellationService } from '../../../../src/deliveries/cancellation.service';
import { ConsumerLeasesRepository } from '../../../../src/deliveries/pulling/consumer-leases.repository';
import { ClaimsRepository } from '../../../../src/deliveries/rows/claims.repository';
import { OutcomesRepository } from '../../../../src/deliveries/rows/outcomes.repository';
import { StoppingWebhooksRepository } from '../../../../src/deliveries/rows/stopping-webhooks.repository';
import { WaitingRowsRepository } from '../../../../src/deliveries/rows/waiting-rows.repository';
import { DeferredRepository } from '../../../../src/deliveries/slots/deferred.repository';
import { OldestDueService } from '../../../../src/deliveries/sweeping/oldest-due.service';
import type { ClockService } from '../../../../src/infrastructure/database/clock.service';
import { dataSourceOptions } from '../../../../src/infrastructure/database/data-source.setup';
import { StatementsService } from '../../../../src/infrastructure/database/statements.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { insertBacklog } from '../../../support/backlog';
import { openTransaction } from '../../../support/open-transaction';
import { cloneDatabase } from '../../../support/postgres';
import { useApplication } from '../../stage/application';
import { insertDueDelivery } from '../../stage/due-delivery';
import { makeDays } from '../../stage/long-log';
import { type Cost, measure } from '../../stage/measured-connection';

const URL = 'https://receiver.example/';
/** One more than a request cancels. */
const ROWS = 5001;
const FIRST_KEY = { userId: '', webhookId: '00000000-0000-0000-0000-000000000000' };

// With the role of the application, no background task cancels anything unless a test asks for it.

describe('A webhook that is stopping', () => {
  const { app, database } = useApplication();

  /** Switches a webhook off that has 5,001 waiting rows, and rows of other states that `insert` makes. */
  async function stopped(
    kind: 'push' | 'pull',
    insert: (key: { userId: string; webhookId: string }) => Promise<string[]> = async () => [],
  ) {
    const userId = `user-${randomUUID()}`;
    const url = kind === 'push' ? URL : undefined;
    const { webhook } = await app.get(WebhooksService).create(userId, { kind, url, events: ['job.started'] });
    const key = { userId, webhookId: webhook.id };
    const ids = await insert(key);
    await insertBacklog(database, { ...key, rows: ROWS, url: url ?? null });
    await app.get(WebhooksService).update(userId, webhook.id, { active: false });
    return { ...key, ids };
  }

  const pending = async (webhookId: string): Promise<number> => {
    const [row] = await database.query<{ count: number }>(
      `select count(*)::int as count from webhook_service.deliveries where webhook_id = $1 and status = 'pending'`,
      [webhookId],
    );
    return row!.count;
  };

  it('keeps its rows from every claim of a worker, until they are canceled', async () => {
    const { webhookId, userId, ids } = await stopped('push', async (key) => [
      await insertDueDelivery(database, key, URL),
    ]);
    expect(await app.get(ClaimsRepository).claim(ids[0]!)).toBeNull();
    expect(await app.get(ClaimsRepository).claimDeferred([{ webhookId, userId, count: 10 }])).toEqual([]);
    const keys = await app.get(DeferredRepository).keys(FIRST_KEY, 1000);
    expect(keys.filter((key) => key.webhookId === webhookId)).toMatchObject([{ mayBegin: false }]);
    for (let more = true; more; more = (await app.get(CancellationService).continueAll()) === 0);
    expect(await pending(webhookId)).toBe(0);
  });

  it('keeps its rows from consumers, and their leases from ending', async () => {
    const { webhookId, ids } = await stopped('pull', async (key) => {
      const id = await insertDueDelivery(database, key, null);
      await database.query(
        `update webhook_service.deliveries set claimed = true, lease_id = $2, attempted_at = now(),
           leased_until = now() - interval '1 second' where id = $1`,
        [id, key.webhookId],
      );
      return [id];
    });
    expect(await app.get(ClaimsRepository).claimWaiting(webhookId, 10, 60)).toEqual([]);
    const leases = app.get(ConsumerLeasesRepository);
    expect((await leases.waitedFor([webhookId], [])).dueWebhooks).toEqual([]);
    expect(await leases.held(webhookId, [{ deliveryId: ids[0]!, random: webhookId }])).toEqual(new Map());
    expect((await leases.ended(1000, [])).filter((each) => each.webhookId === webhookId)).toEqual([]);
    await app.get(CancellationService).continueAll();
  });

  it('is passed by sweepers, which go on with the rows of others', async () => {
    const { webhookId, ids } = await stopped('push', async (key) => [
      await insertDueDelivery(database, key, URL, { leased: '-1 minute' }),
      await insertDueDelivery(database, key, URL, { leased: '-1 minute' }),
    ]);
    const rows = app.get(WaitingRowsRepository);
    const swept = await rows.reclaim(1000, null);
    expect(swept.filter((row) => row.webhookId === webhookId).map(({ id, isStopped }) => [id, isStopped])).toEqual(
      ids.map((id) => [id, true]),
    );
    expect((await rows.reclaim(1000, null)).filter((row) => row.webhookId === webhookId)).toEqual([]);
  });

  it('counts in no gauge', async () => {
    for (const kind of ['push', 'pull'] as const) await stopped(kind);
    await stopped('push', async (key) => [
      await insertDueDelivery(database, key, URL, { due: '-1 hour', leased: '-1 hour' }),
    ]);
    expect(await app.get(DeferredRepository).count(1000, 10_000)).toEqual({ slot: 0, rate: 0, consumer: 0 });
    const gauges = new OldestDueService(app.get(StatementsService), { gauge: () => undefined } as never);
    expect(await gauges.read(1000, 1000)).toMatchObject({
      ...{ unattendedDeliveries: 0, pendingDeliveries: 0, deferredDeliveries: 0 },
    });
  });

  it('does not wait for rows that others have locked, and cancels them afterwards', async () => {
    const { webhookId } = await stopped('push');
    const lock = await openTransaction(database, [
      `select from webhook_service.deliveries where webhook_id = $1 and status = 'pending' order by id limit 1 for update`,
      [webhookId],
    ]);
    const stopping = app.get(StoppingWebhooksRepository);
    const pages = async () => {
      while (await stopping.cancelPage(webhookId));
      return pending(webhookId);
    };
    try {
      expect([await pages(), await stopping.list()]).toEqual([1, expect.arrayContaining([webhookId])]);
    } finally {
      await lock.end('rollback');
    }
    expect(await pages()).toBe(0);
    await stopping.cancelPage(webhookId);
    expect(await stopping.list()).not.toContain(webhookId);
  });
});

const FEW = 10_000;
const MANY = 100_000;
const PAGES = 5;
/** With ten times as many rows an index may be a level deeper, and a changed row is added to up to eight of them. */
const AT_MOST = 1.7;

describe('Stopping a webhook', () => {
  /** What PostgreSQL reads to stop a webhook with that many pending rows, and to cancel each of the first pages of them. */
  async function costsOf(rows: number): Promise<{ stop: number; pages: number[] }> {
    const database = await cloneDatabase();
    const dataSource = new DataSource(dataSourceOptions(database.url, 1));
    try {
      await dataSource.initialize();
      await makeDays(database, new Date());
      const key = { webhookId: randomUUID(), userId: 'user' };
      await insertBacklog(database, { ...key, rows, url: URL, hasEvents: false });
      const measured = await measure((dataSource.driver as unknown as { master: Pool }).master);
      const outcomes = new OutcomesRepository(new StatementsService(dataSource), {} as ClockService);
      const stopping = new StoppingWebhooksRepository(dataSource, outcomes);
      const stop = () =>
        dataSource.transaction((manager) => stopping.stop(manager, key.webhookId, 'webhook_disabled', 5000));
      const costs = { stop: sumOf(await measured(stop)), pages: [] as number[] };
      while (costs.pages.length < PAGES)
        costs.pages.push(sumOf(await measured(() => stopping.cancelPage(key.webhookId))));
      return costs;
    } finally {
      await dataSource.destroy();
      await database.drop();
    }
  }

  it(`reads no more with ${MANY} pending rows than with ${FEW}, and no more for later pages`, async () => {
    const [few, many] = [await costsOf(FEW), await costsOf(MANY)];
    expect(few.stop).toBeGreaterThan(0);
    expect(many.stop).toBeLessThan(few.stop * AT_MOST);
    for (const pages of [...few.pages, ...many.pages]) expect(pages).toBeLessThan(few.pages[0]! * AT_MOST);
  });
});

const sumOf = (costs: readonly Cost[]): number => costs.reduce((sum, { pages }) => sum + pages, 0);
