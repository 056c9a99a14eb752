import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Job, Queue } from 'bullmq';
import { ClockService } from '../../../../src/plumbing/database/clock.service';
import { SweeperService } from '../../../../src/deliveries/sweeping/sweeper.service';
import { SEND_QUEUES, type SendJob, SendQueue } from '../../../../src/deliveries/send.queue';
import { EventsService } from '../../../../src/events/events.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { startApplication, stopApplication } from '../../stage/application';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { type Hook, useReceiver } from '../../../support/receiver';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';

const STARTED = { queue: 'films', jobId: '1', name: 'render', attempt: 1, startedAt: '2026-11-20T10:00:00.000Z' };

describeOnStores('A job that reminds of deliveries', (store) => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let app: NestFastifyApplication;

  beforeAll(async () => {
    database = await cloneDatabase();
    // An attempt that takes long is not over before its row was looked at.
    app = await startApplication(database.url, [], { ...store.settings(), DELIVERY_TIMEOUT_MS: '60000' });
  });
  afterAll(async () => {
    await stopApplication(app);
    await database.drop();
  });

  async function subscribed(hook = receiver.hook()): Promise<{ userId: string; hook: Hook; webhookId: string }> {
    const userId = `user-${randomUUID()}`;
    const { webhook } = await app.get(WebhooksService).create(userId, { url: hook.url, events: ['job.started'] });
    return { userId, hook, webhookId: webhook.id };
  }

  /** A delivery that is due, with no job. */
  async function due(webhookId: string, userId: string, url: string, attended: string): Promise<string> {
    const { id } = app.get(ClockService).birth();
    await database.query(
      `with event as (
         insert into webhook_service.events (id, name, user_id, body, fanned_out_at, leased_until)
         values ($1, 'job.started', $2, '{}', now(), now())
       )
       insert into webhook_service.deliveries
         (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until)
       values ($1, $3, $2, $1, 'job.started', $4, 1, 'event', 'pending', now(), now() + $5::interval)`,
      [id, userId, webhookId, url, attended],
    );
    return id;
  }

  const status = async (id: string) =>
    (await database.query<{ status: string }>('select status from webhook_service.deliveries where id = $1', [id]))[0]
      ?.status;

  const attendedFor = async (webhookId: string) =>
    Number(
      (
        await database.query<{ ms: number }>(
          `select extract(epoch from leased_until - scheduled_at) * 1000 as ms
           from webhook_service.deliveries where webhook_id = $1`,
          [webhookId],
        )
      )[0]?.ms,
    );

  it('reminds of many', async () => {
    const { hook, userId, webhookId } = await subscribed();
    const ids = await Promise.all(Array.from({ length: 120 }, () => due(webhookId, userId, hook.url, '10 seconds')));
    // All of them as if they had been inserted just now, with the first as with the last.
    await database.query(
      `update webhook_service.deliveries set scheduled_at = now(), leased_until = now() + interval '10 seconds'
       where webhook_id = $1`,
      [webhookId],
    );
    const queues = app.get<Queue<SendJob>[]>(SEND_QUEUES).map((queue) => jest.spyOn(queue, 'addBulk'));
    try {
      await app.get(SendQueue).offer(ids);
      expect(queues.flatMap(({ mock }) => mock.calls.flatMap(([jobs]) => jobs))).toHaveLength(3);
    } finally {
      for (const spy of queues) spy.mockRestore();
    }
    await hook.received(120);
    expect(new Set(hook.calls.map(({ headers }) => headers['x-service-delivery']))).toEqual(new Set(ids));
  });

  it('is not doubled by the sweeper when it reminds of one', async () => {
    const { hook, userId, webhookId } = await subscribed();
    const id = await due(webhookId, userId, hook.url, '1 hour');
    const [queue] = app.get<Queue<SendJob>[]>(SEND_QUEUES);
    await app.get(SendQueue).offer([id], 60_000);
    // One of another test may end between its id and its data.
    const isForIt = (job?: Job<SendJob>) => job?.data.deliveryIds.includes(id);
    const jobs = async () => (await queue!.getJobs(['waiting', 'delayed', 'active'])).filter(isForIt);
    expect(await jobs()).toHaveLength(1);
    await app.get(SendQueue).enqueue([id]);
    expect(await jobs()).toHaveLength(1);
    const job = await queue!.getJob(id);
    expect(job?.data).toMatchObject({ deliveryIds: [id], dueAt: expect.any(Number) });
    await job?.remove();
    expect(hook.calls).toHaveLength(0);
  });

  it('leaves a row to the reminder that was made after it', async () => {
    const { hook, userId, webhookId } = await subscribed();
    const old = await due(webhookId, userId, hook.url, '1 hour');
    const newer = await due(webhookId, userId, hook.url, '10 seconds');
    await app.get(SendQueue).offer([old, newer]);
    await waitFor(async () => (await status(newer)) === 'succeeded', { what: 'the row of this reminder' });
    expect([await status(old), hook.calls.length]).toEqual(['pending', 1]);
    await database.query('update webhook_service.deliveries set leased_until = now() where id = $1', [old]);
    await waitFor(() => app.get(SweeperService).sweep(), { what: 'a sweep' });
    await hook.received(2);
  });

  it('leaves a row to the sweeper that it was entrusted to, because the queue seemed not to have taken the job', async () => {
    const { hook, userId, webhookId } = await subscribed();
    const entrusted = await due(webhookId, userId, hook.url, '0 seconds');
    const other = await due(webhookId, userId, hook.url, '10 seconds');
    await app.get(SendQueue).offer([entrusted, other]);
    await waitFor(async () => (await status(other)) === 'succeeded', { what: 'the row of this reminder' });
    expect([await status(entrusted), hook.calls.length]).toEqual(['pending', 1]);
    await waitFor(() => app.get(SweeperService).sweep(), { what: 'a sweep' });
    await hook.received(2);
  });

  it.each([
    ['has not come yet', '0 seconds'],
    ['has just made no job of it, because this one was known', '1 minute'],
  ])('takes a row back, if it is the only one for it, from a sweeper that %s', async (_, attended) => {
    const { hook, userId, webhookId } = await subscribed();
    await app.get(SendQueue).offer([await due(webhookId, userId, hook.url, attended)]);
    await hook.received(1);
  });

  it('leaves any other row to whoever sees to it, even if it is the only one for it', async () => {
    const { hook, userId, webhookId } = await subscribed();
    const taken = await due(webhookId, userId, hook.url, '4 seconds');
    const other = await due(webhookId, userId, hook.url, '10 seconds');
    await app.get(SendQueue).offer([taken]);
    await app.get(SendQueue).offer([other]);
    await waitFor(async () => (await status(other)) === 'succeeded', { what: 'the row that nobody else sees to' });
    expect([await status(taken), hook.calls.length]).toEqual(['pending', 1]);
  });

  it('keeps the sweeper from an attempt that takes long', async () => {
    let answer: (value?: unknown) => void = () => undefined;
    const { hook, userId, webhookId } = await subscribed(
      receiver.hook({ after: new Promise((resolve) => (answer = resolve)) }),
    );
    await app.get(EventsService).publish('job.started', STARTED, { userId });
    await hook.received(1);
    try {
      await waitFor(async () => (await attendedFor(webhookId)) > 13_000, {
        what: 'a row that is attended to for longer',
      });
    } finally {
      answer();
    }
    expect(hook.calls).toHaveLength(1);
  });
});
