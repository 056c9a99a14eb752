import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { ClockService } from '../../../../src/infrastructure/database/clock.service';
import { FAN_OUT_QUEUE, FanOutQueue } from '../../../../src/events/fan-out.queue';
import { SweeperService } from '../../../../src/deliveries/sweeping/sweeper.service';
import { SEND_QUEUES, SendQueue } from '../../../../src/deliveries/send.queue';
import type { PartitionKey } from '../../../../src/deliveries/rows/attempt';
import { WaitingRowsRepository } from '../../../../src/deliveries/rows/waiting-rows.repository';
import { SweepRepository } from '../../../../src/deliveries/sweeping/sweep.repository';
import { WatchdogService } from '../../../../src/deliveries/sweeping/watchdog.service';
import { WorkersService } from '../../../../src/infrastructure/queue/workers.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { startApplication, stopApplication } from '../../stage/application';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { type Hook, useReceiver } from '../../../support/receiver';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';

const ONE_ENQUEUED = new Map([['{send-0}', 1]]);

describeOnStores('The sweeper', (store) => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let app: NestFastifyApplication;
  let sweeper: SweeperService;

  beforeAll(async () => {
    database = await cloneDatabase();
    app = await startApplication(database.url, [], store.settings());
    sweeper = app.get(SweeperService);
    await sweep();
  });
  /** Leaves no rows of other tests to sweep. */
  beforeEach(async () => {
    await database.query(`update webhook_service.deliveries set status = 'canceled' where status = 'pending'`);
    await database.query('update webhook_service.events set fanned_out_at = now() where fanned_out_at is null');
  });
  afterAll(async () => {
    await stopApplication(app);
    await database.drop();
  });

  /** Sweeps like the timer, which tries again when the queue did not respond in time. */
  const sweep = () => waitFor(() => sweeper.sweep(), { what: 'a sweep' });

  /** Creates a webhook, and an event for it that has a row but no job. */
  async function lostEvent(attendedUntil: string): Promise<{ hook: Hook; webhookId: string; eventId: string }> {
    const userId = `user-${randomUUID()}`;
    const hook = receiver.hook();
    const { webhook } = await app.get(WebhooksService).create(userId, { url: hook.url, events: ['*'] });
    const { id: eventId } = app.get(ClockService).newId();
    await database.query(
      `insert into webhook_service.events (id, name, user_id, body, leased_until)
       values ($1, 'job.started', $2, '{}', now() + $3::interval)`,
      [eventId, userId, attendedUntil],
    );
    return { hook, webhookId: webhook.id, eventId };
  }

  async function lostDeliveries(count: number, attendedUntil: string): Promise<Hook> {
    const { hook, webhookId, eventId } = await lostEvent('1 hour');
    await database.query(
      `insert into webhook_service.deliveries
         (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until)
       select overlay($1::uuid::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, $2::uuid, 'anyone', $1::uuid, 'job.started', $3, 1,
              'event', 'pending', now(), now() + $4::interval
       from generate_series(1, $5::int) as n`,
      [eventId, webhookId, hook.url, attendedUntil, count],
    );
    return hook;
  }

  it('recovers an event that was accepted but never enqueued', async () => {
    const { hook } = await lostEvent('-1 second');
    expect((await sweep()).events).toBe(1);
    await hook.received(1);
  });

  it('recovers a delivery whose job was lost', async () => {
    const hook = await lostDeliveries(1, '-1 second');
    expect((await sweep()).deliveries).toBe(1);
    await hook.received(1);
  });

  it('enqueues no events while the queue has no room for them', async () => {
    const { hook } = await lostEvent('-1 second');
    const capacity = jest.spyOn(app.get(FanOutQueue), 'remaining', 'get').mockReturnValue(0);
    try {
      const { events, byQueue } = await sweep();
      // The watchdog learns that a worker has something to do.
      expect([events, byQueue.get(FAN_OUT_QUEUE)]).toEqual([0, 1]);
    } finally {
      capacity.mockRestore();
    }
    expect((await sweep()).events).toBe(1);
    await hook.received(1);
  });

  it('ends each sweep, however many rows there are to sweep', async () => {
    const found = jest
      .spyOn(app.get(SweepRepository), 'reclaimEvents')
      .mockResolvedValue({ events: Array(1000).fill({ id: randomUUID(), userId: '' }), next: null, isLocked: false });
    const queued = jest.spyOn(app.get(FanOutQueue), 'enqueue').mockResolvedValue();
    try {
      expect((await sweep()).events).toBe(10_000);
    } finally {
      for (const spy of [found, queued]) spy.mockRestore();
    }
  });

  it('skips rows that a job attends to', async () => {
    await lostEvent('1 hour');
    await lostDeliveries(3, '1 hour');
    expect(await sweep()).toMatchObject({ events: 0, deliveries: 0 });
  });

  it('claims each row of several pages once, however many sweeps run at the same time', async () => {
    const hook = await lostDeliveries(2500, '-1 second');
    const workers = app.get(WorkersService).processors.map(({ worker }) => worker);
    const renewals = jest.spyOn(app.get(WaitingRowsRepository), 'reclaim');
    // Redis has 500 ms for a page; a sweep releases the rows of a page that Redis did not accept in time.
    const releases = jest.spyOn(app.get(WaitingRowsRepository), 'releaseLeases');
    try {
      await Promise.all(workers.map((worker) => worker.pause()));
      await Promise.all([sweep(), sweep(), sweep()]);
      const pages = await Promise.all(renewals.mock.results.map(({ value }) => value as Promise<{ id: string }[]>));
      const claimed = pages.flat().map(({ id }) => id);
      const released = releases.mock.calls.flatMap(([ids]) => ids);
      expect(new Set(claimed).size).toBe(2500);
      const again = claimed.filter((id, i) => claimed.indexOf(id) < i);
      expect(again.filter((id) => !released.includes(id))).toEqual([]);
    } finally {
      renewals.mockRestore();
      releases.mockRestore();
      await Promise.all(workers.map((worker) => worker.resume()));
    }
    const firstAttempts = () => hook.calls.filter(({ headers }) => headers['x-service-attempt'] === '1');
    await waitFor(() => firstAttempts().length >= 2500, { what: '2,500 first attempts', timeoutMs: 240_000 });
    // On a busy machine some of them time out, and are retried as deliveries of their own.
    expect(new Set(hook.calls.map(({ headers }) => headers['x-service-delivery'])).size).toBe(hook.calls.length);
    expect(firstAttempts()).toHaveLength(2500);
  });

  it('sweeps rows again that the queue did not accept', async () => {
    const hook = await lostDeliveries(2, '-1 second');
    const [queue] = app.get<Queue[]>(SEND_QUEUES);
    const add = jest.spyOn(queue!, 'addBulk').mockRejectedValueOnce(new Error('the queue is away'));
    await expect(sweeper.sweep()).rejects.toThrow('the queue is away');
    add.mockRestore();
    expect((await sweep()).deliveries).toBe(2);
    await hook.received(2);
  });

  it('counts rows that have been unattended for five seconds, up to a limit', async () => {
    const rows = app.get(SweepRepository);
    await lostEvent('-6 seconds');
    const hook = await lostDeliveries(3, '-6 seconds');
    await lostDeliveries(2, '0 seconds');
    expect(await rows.countExpired(100)).toEqual({ events: 1, deliveries: 3 });
    expect(await rows.countExpired(2)).toEqual({ events: 1, deliveries: 2 });
    await sweep();
    await hook.received(3);
    expect(await rows.countExpired(100)).toEqual({ events: 0, deliveries: 0 });
  });

  it('reads only empty partial indexes when there is nothing to do', async () => {
    await lostDeliveries(5000, '1 hour');
    await database.query(`update webhook_service.deliveries set status = 'canceled' where status = 'pending'`);
    const pagesRead = async () => {
      await database.query('vacuum analyze webhook_service.deliveries'); // otherwise the plan fits the last autovacuum
      const [explained] = await database.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(
        `explain (analyze, buffers, format json) select id from webhook_service.deliveries
         where status = 'pending' and leased_until <= now() order by leased_until limit 1000`,
      );
      const plan = explained?.['QUERY PLAN'][0]?.Plan ?? {};
      return Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks']);
    };
    // The 5,000 rows fill some 200 pages. Vacuum keeps rows that an older transaction may still see.
    await waitFor(async () => (await pagesRead()) < 50, { what: 'a query that reads fewer than 50 pages' });
  });

  it('detects workers that start nothing, and has them replaced', async () => {
    const workers = app.get(WorkersService);
    await workers.stop();
    const hook = await lostDeliveries(1, '-1 second');
    const watchdog = app.get(WatchdogService);
    const now = jest.spyOn(Date, 'now');
    try {
      // On a busy machine the sweep that enqueued it may have failed, and the next one found nothing.
      await sweep();
      await watchdog.check({ byQueue: ONE_ENQUEUED });
      expect(hook.calls).toHaveLength(0);
      const later = Date.now() + 9000;
      now.mockImplementation(() => later);
      await watchdog.check({ byQueue: ONE_ENQUEUED });
    } finally {
      now.mockRestore();
    }
    await hook.received(1);
  });

  if (store.name === 'Redis') {
    it('takes over deliveries at once that an unresponsive queue has not accepted', async () => {
      const redis = new Redis(store.settings().REDIS_URL ?? '');
      const hook = await lostDeliveries(1, '1 hour');
      const row = `from webhook_service.deliveries where url = $1`;
      const [delivery] = await database.query<PartitionKey & { id: string }>(
        `select id, webhook_id as "webhookId", user_id as "userId" ${row}`,
        [hook.url],
      );
      try {
        // Writes wait until the test has read the row.
        await redis.call('CLIENT', 'PAUSE', '60000', 'WRITE');
        await app.get(SendQueue).enqueue([delivery!.id], delivery!);
        expect(await database.query(`select leased_until <= now() as entrusted ${row}`, [hook.url])).toEqual([
          { entrusted: true },
        ]);
      } finally {
        await redis.call('CLIENT', 'UNPAUSE');
        redis.disconnect();
      }
      // Redis may have accepted the job after all.
      const sweptUntilReceived = async () => (await sweeper.sweep()) && hook.calls.length > 0;
      await waitFor(sweptUntilReceived, { what: 'the delivery', everyMs: 100 });
    });
  }
});
