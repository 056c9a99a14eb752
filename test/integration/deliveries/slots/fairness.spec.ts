import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Queue } from 'bullmq';
import { ClockService } from '../../../../src/infrastructure/database/clock.service';
import { SweeperService } from '../../../../src/deliveries/sweeping/sweeper.service';
import { WaitingRowsRepository } from '../../../../src/deliveries/rows/waiting-rows.repository';
import { DeferralService } from '../../../../src/deliveries/slots/deferral.service';
import { SEND_QUEUES, SendQueue } from '../../../../src/deliveries/send.queue';
import { EventsService } from '../../../../src/events/events.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { startApplication, stopApplication } from '../../stage/application';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { type Hook, useReceiver } from '../../../support/receiver';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';

const SLOTS = 16;
const WEBHOOK_LIMIT = 6;
/** Only a receiver that never answers takes this long. */
const TIMEOUT_MS = 2000;
const STARTED = { queue: 'films', jobId: '1', name: 'render', attempt: 1, startedAt: '2026-11-20T10:00:00.000Z' };

describeOnStores('A fair share of the slots', (store) => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let apps: NestFastifyApplication[];
  let app: NestFastifyApplication;

  beforeAll(async () => {
    database = await cloneDatabase();
    const settings = {
      ...store.settings(),
      SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
      DELIVERY_CONCURRENCY: String(SLOTS),
      WEBHOOK_CONCURRENCY: String(WEBHOOK_LIMIT),
      DELIVERY_TIMEOUT_MS: String(TIMEOUT_MS),
      RETRY_BASE_DELAY_MS: '3600000',
    };
    apps = [await startApplication(database.url, [], settings), await startApplication(database.url, [], settings)];
    app = apps[0]!;
  });
  afterAll(async () => {
    for (const each of apps) await stopApplication(each);
    await database.drop();
  });

  interface Subscribed {
    userId: string;
    hook: Hook;
    webhookId: string;
  }

  async function subscribed(hook = receiver.hook(), userId = `user-${randomUUID()}`): Promise<Subscribed> {
    const { webhook } = await app.get(WebhooksService).create(userId, { url: hook.url, events: ['job.started'] });
    return { userId, hook, webhookId: webhook.id };
  }

  const publish = ({ userId }: Subscribed, count: number) =>
    Promise.all(
      Array.from({ length: count }, () => app.get(EventsService).publish('job.started', STARTED, { userId })),
    );

  async function deferredOf({ webhookId }: Subscribed): Promise<number> {
    const [row] = await database.query<{ count: number }>(
      `select count(*)::int as count from webhook_service.deliveries where webhook_id = $1 and parked and status = 'pending'`,
      [webhookId],
    );
    return row?.count ?? 0;
  }

  const eventsOf = ({ hook }: Subscribed) => hook.calls.map(({ headers }) => String(headers['webhook-id']));

  /** Inserts deferred deliveries of this webhook. */
  const defer = (subscribed: Subscribed, count: number) => leave(subscribed, count, 'true');

  /** Inserts deliveries without a job, as a process that died may have left them. */
  async function leave(
    { userId, webhookId, hook }: Subscribed,
    count: number,
    parked: 'true' | 'false',
  ): Promise<void> {
    const { id } = app.get(ClockService).newId();
    await database.query(
      `with event as (
         insert into webhook_service.events (id, name, user_id, body, fanned_out_at, leased_until)
         select overlay($1::uuid::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, 'job.started', $2, '{}', now(), now()
         from generate_series(1, $5::int) as n returning id
       )
       insert into webhook_service.deliveries
         (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until, parked)
       select overlay(id::text placing '7001' from 15)::uuid, $3::uuid, $2, id, 'job.started', $4, 1, 'event', 'pending', now(),
              now() + case when ${parked} then interval '1 hour' else interval '0' end, ${parked}
       from event`,
      [id, userId, webhookId, hook.url, count],
    );
  }

  it('gives a receiver that never responds no more slots than its limit, while others are served', async () => {
    const never = new Promise(() => undefined);
    const dead = await subscribed(receiver.hook({ after: never }));
    const well = await subscribed();
    await publish(dead, 60);
    const most = 2 * WEBHOOK_LIMIT; // of two processes
    await waitFor(async () => (await deferredOf(dead)) >= 60 - 3 * most, {
      what: 'deferred deliveries of the dead receiver',
    });
    await publish(well, 200);
    await well.hook.received(200);
    expect(new Set(eventsOf(well)).size).toBe(200);
    await dead.hook.received(most + 2);
    // No delivery waits for the slots that it holds.
    const begun = dead.hook.calls.map(({ receivedAt }) => receivedAt);
    const deadlines = Math.ceil((begun.at(-1)! - begun[0]!) / TIMEOUT_MS);
    expect(begun.length).toBeLessThanOrEqual(most * (1 + deadlines));
    dead.hook.answer({});
    await waitFor(async () => (await deferredOf(dead)) === 0, { what: 'an empty backlog' });
  });

  it('never has more attempts in flight to one webhook than its concurrency limit', async () => {
    const hook = receiver.hook({ delayMs: 50 });
    const one = await subscribed(hook);
    await defer(one, 60);
    await hook.received(60);
    const begun = hook.calls.map(({ receivedAt }) => receivedAt);
    // Two calls on one slot are 50 ms apart, by timers that may be a few ms early.
    const atOnce = begun.map((at) => begun.filter((other) => other <= at && other > at - 40).length);
    expect(Math.max(...atOnce)).toBeLessThanOrEqual(2 * WEBHOOK_LIMIT);
    expect(new Set(eventsOf(one)).size).toBe(60);
  });

  it('dispatches deferred deliveries in round robin over all users, each of them once', async () => {
    const busy = await subscribed(receiver.hook({ delayMs: 20 }));
    const small = await subscribed(receiver.hook({ delayMs: 20 }));
    // No process sees one without the other.
    await database.query('begin');
    await defer(busy, 400);
    await defer(small, 10);
    await database.query('commit');
    const { receivedAt: smallIsDoneAt } = (await small.hook.received(10)).at(-1)!;
    const before = busy.hook.calls.filter(({ receivedAt }) => receivedAt <= smallIsDoneAt);
    expect(before.length).toBeLessThan(200);
    await busy.hook.received(400);
    expect(new Set(eventsOf(busy)).size).toBe(400);
    expect(busy.hook.calls).toHaveLength(400);
  });

  it('attempts the delivery of a job although newer deliveries of the webhook are deferred', async () => {
    const one = await subscribed();
    await publish(one, 1);
    const again = `update webhook_service.deliveries set status = 'pending', claimed = false, leased_until = now() + interval '1 hour'
                   where webhook_id = $1 and status = 'succeeded' returning id`;
    const sent = async () => {
      const [row] = await database.query<{ id: string }>(`with again as (${again}) select id from again`, [
        one.webhookId,
      ]);
      return row;
    };
    const waiting = apps.map((each) => jest.spyOn(each.get(DeferralService), 'hasDeferred').mockReturnValue(true));
    const defers = apps.map((each) => jest.spyOn(each.get(WaitingRowsRepository), 'defer'));
    const queues = app.get<Queue[]>(SEND_QUEUES);
    try {
      const { id } = await waitFor(sent, { what: 'a successful delivery' });
      // While the queue still has the first job, it accepts no other with this id.
      const isRemoved = async () => (await Promise.all(queues.map((queue) => queue.getJob(id)))).every((job) => !job);
      await waitFor(isRemoved, { what: 'the end of the first job' });
      await app.get(SendQueue).enqueueEach([{ id, ...one }]);
      await one.hook.received(2);
      expect(defers.flatMap(({ mock }) => mock.calls.flat())).not.toContain(id);
    } finally {
      for (const spy of [...waiting, ...defers]) spy.mockRestore();
    }
  });

  it('defers deliveries that the queue has no room for, and delivers them later', async () => {
    const one = await subscribed();
    const capacities = apps.map((each) => jest.spyOn(each.get(SendQueue), 'remaining', 'get').mockReturnValue(0));
    const enqueued = apps.map((each) => jest.spyOn(each.get(SendQueue), 'enqueueEach'));
    try {
      await publish(one, 100);
      await one.hook.received(100);
      await leave(one, 1, 'false');
      await waitFor(() => app.get(SweeperService).sweep(), { what: 'a sweep' });
      await one.hook.received(101);
      expect(enqueued.flatMap(({ mock }) => mock.calls.flatMap(([ids]) => ids))).toEqual([]);
    } finally {
      for (const spy of [...capacities, ...enqueued]) spy.mockRestore();
    }
  });
});
