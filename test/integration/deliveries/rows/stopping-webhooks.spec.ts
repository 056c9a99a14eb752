import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import { CancellationService } from '../../../../src/deliveries/cancellation.service';
import { ConsumerLeasesRepository } from '../../../../src/deliveries/pulling/consumer-leases.repository';
import { firstDeliveryId } from '../../../../src/deliveries/fan-out/first-delivery-id';
import type { FirstAttempt, PartitionKey } from '../../../../src/deliveries/rows/attempt';
import { ClaimsRepository } from '../../../../src/deliveries/rows/claims.repository';
import { OutcomesRepository } from '../../../../src/deliveries/rows/outcomes.repository';

import { StoppingWebhooksRepository } from '../../../../src/deliveries/rows/stopping-webhooks.repository';
import { WaitingRowsRepository } from '../../../../src/deliveries/rows/waiting-rows.repository';
import { DeferredDispatchService } from '../../../../src/deliveries/sending/deferred-dispatch.service';
import { DispatchService } from '../../../../src/deliveries/sending/dispatch.service';
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
/** A request cancels so many. */
const AT_ONCE = 5000;
const FIRST_KEY = { userId: '', webhookId: '00000000-0000-0000-0000-000000000000' };

// With the role of the application, no background task cancels anything unless a test asks for it.

describe('A webhook that is stopping', () => {
  const { app, database } = useApplication();
  beforeAll(() => app.get(DeferredDispatchService).stop());

  const create = async (kind: 'push' | 'pull') => {
    const userId = `user-${randomUUID()}`;
    const url = kind === 'push' ? URL : undefined;
    const { webhook } = await app.get(WebhooksService).create(userId, { kind, url, events: ['job.started'] });
    return { userId, webhookId: webhook.id, url: url ?? null };
  };
  const disable = ({ userId, webhookId }: PartitionKey) =>
    app.get(WebhooksService).update(userId, webhookId, { active: false });

  /** Switches a webhook off that has as many waiting rows as a request cancels, and more after them. */
  async function stopped(kind: 'push' | 'pull', insert: (key: PartitionKey) => Promise<string[]> = async () => []) {
    const key = await create(kind);
    await insertBacklog(database, { ...key, rows: AT_ONCE });
    const ids = await insert(key);
    await insertBacklog(database, { ...key, rows: 1 });
    await disable(key);
    return { ...key, ids };
  }

  const pending = async (webhookId: string): Promise<number> => {
    const [row] = await database.query<{ count: number }>(
      `select count(*)::int as count from webhook_service.deliveries where webhook_id = $1 and status = 'pending'`,
      [webhookId],
    );
    return row!.count;
  };

  it('has 5,000 rows less at once, and shows all others with the same time', async () => {
    const { webhookId } = await stopped('push');
    expect(await pending(webhookId)).toBe(1);
    const completed = `select count(distinct completed_at)::int as count from webhook_service.deliveries where webhook_id = $1`;
    for (let more = true; more; more = (await app.get(CancellationService).continueAll()) === 0);
    expect(await pending(webhookId)).toBe(0);
    expect(await database.query(completed, [webhookId])).toEqual([{ count: 1 }]);
  });

  const first = async ({ userId, webhookId, url }: PartitionKey & { url: string | null }): Promise<FirstAttempt> => {
    const eventId = v7();
    await database.query(
      `insert into webhook_service.events (id, name, user_id, body) values ($1, 'job.started', $2, '{}')`,
      [eventId, userId],
    );
    const webhook = url === null ? null : await app.get(ClaimsRepository).webhook(webhookId);
    return {
      ...{ id: firstDeliveryId(eventId, webhookId), webhookId, userId, eventId, event: 'job.started', attempt: 1 },
      ...{ trigger: 'event', body: '{}', subject: null, traceparent: null, audience: userId, webhook, url },
      ...{ scheduledAt: new Date(), completesEvent: false },
    };
  };
  const rowOf = (id: string) =>
    database.query('select status, error_code as code from webhook_service.deliveries where id between $1 and $1', [
      id,
    ]);

  describe.each(['pull', 'push'] as const)('gets no row that nothing would cancel (%s)', (kind) => {
    const furnish = async () => {
      const key = await create(kind);
      // Its deliveries wait for the rate.
      if (kind === 'push') await app.get(WebhooksService).update(key.userId, key.webhookId, { maxPerSecond: 0.1 });
      return { key, delivery: await first(key) };
    };
    const insert = (delivery: FirstAttempt) => app.get(DispatchService).deferNew(delivery);

    it('after it was disabled', async () => {
      const { key, delivery } = await furnish();
      await disable(key);
      await insert(delivery);
      expect(await rowOf(delivery.id)).toEqual([{ status: 'canceled', code: 'webhook_disabled' }]);
    });

    it('after it was deleted', async () => {
      const { key, delivery } = await furnish();
      await app.get(WebhooksService).remove(key.userId, { id: key.webhookId });
      await insert(delivery);
      expect(await rowOf(delivery.id)).toEqual([{ status: 'canceled', code: 'webhook_deleted' }]);
    });

    it('while it is being disabled, and leaves others alone', async () => {
      const [{ key, delivery }, other] = [await furnish(), await furnish()];
      const stopping = await openTransaction(
        database,
        ['select from webhook_service.webhooks where id = $1 for update', [key.webhookId]],
        ['update webhook_service.webhooks set active = false, disabled_at = now() where id = $1', [key.webhookId]],
      );
      const inserted = insert(delivery);
      await insert(other.delivery);
      expect(await rowOf(other.delivery.id)).toEqual([{ status: 'pending', code: null }]);
      expect(await rowOf(delivery.id)).toEqual([]);
      await stopping.end('commit');
      // After a second it is left to the sweeper, which lets the event be fanned out again.
      await inserted.catch(() => insert(delivery));
      await disable(other.key);
      expect(await rowOf(delivery.id)).toEqual([{ status: 'canceled', code: 'webhook_disabled' }]);
    });

    it('and others wait as before', async () => {
      const { key, delivery } = await furnish();
      await insert(delivery);
      expect(await rowOf(delivery.id)).toEqual([{ status: 'pending', code: null }]);
      await disable(key);
      expect(await rowOf(delivery.id)).toEqual([{ status: 'canceled', code: 'webhook_disabled' }]);
    });
  });

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
    const isMarked = async () => {
      const sql = 'select from webhook_service.stopping_webhooks where webhook_id = $1';
      return (await database.query(sql, [webhookId])).length > 0;
    };
    const pages = async () => {
      while (await stopping.cancelPage(webhookId));
      return pending(webhookId);
    };
    try {
      expect([await pages(), await isMarked()]).toEqual([1, true]);
    } finally {
      await lock.end('rollback');
    }
    expect(await pages()).toBe(0);
    await stopping.cancelPage(webhookId);
    expect(await isMarked()).toBe(false);
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
