import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Job, Queue } from 'bullmq';
import { ClaimsRepository } from '../../../../src/deliveries/rows/claims.repository';
import { SEND_QUEUES, type SendJob, SendQueue } from '../../../../src/deliveries/send.queue';
import { DispatchService } from '../../../../src/deliveries/sending/dispatch.service';
import type { PartitionKey } from '../../../../src/deliveries/rows/attempt';
import { EventsService } from '../../../../src/events/events.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { startApplication, stopApplication } from '../../stage/application';
import { insertDueDelivery } from '../../stage/due-delivery';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { type Hook, useReceiver } from '../../../support/receiver';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';

const STARTED = { queue: 'films', jobId: '1', name: 'render', attempt: 1, startedAt: '2026-11-20T10:00:00.000Z' };

describeOnStores('A send job', (store) => {
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

  async function subscribed(hook = receiver.hook()): Promise<{ hook: Hook; key: PartitionKey }> {
    const userId = `user-${randomUUID()}`;
    const { webhook } = await app.get(WebhooksService).create(userId, { url: hook.url, events: ['job.started'] });
    return { hook, key: { userId, webhookId: webhook.id } };
  }

  const due = (key: PartitionKey, url: string, leased?: string) => insertDueDelivery(database, key, url, { leased });

  const status = async (id: string) =>
    (await database.query<{ status: string }>('select status from webhook_service.deliveries where id = $1', [id]))[0]
      ?.status;

  const leasedFor = async (webhookId: string) =>
    Number(
      (
        await database.query<{ ms: number }>(
          `select extract(epoch from leased_until - scheduled_at) * 1000 as ms
           from webhook_service.deliveries where webhook_id = $1`,
          [webhookId],
        )
      )[0]?.ms,
    );

  /** Returns the jobs that are added to the queues, by call. */
  async function added(enqueue: () => Promise<unknown>): Promise<unknown[][]> {
    const queues = app.get<Queue<SendJob>[]>(SEND_QUEUES).map((queue) => jest.spyOn(queue, 'addBulk'));
    try {
      await enqueue();
      return queues.flatMap(({ mock }) => mock.calls.map(([jobs]) => jobs));
    } finally {
      for (const spy of queues) spy.mockRestore();
    }
  }

  it('carries many deliveries', async () => {
    const { hook, key } = await subscribed();
    const ids = await Promise.all(Array.from({ length: 120 }, () => due(key, hook.url)));
    const calls = await added(() => app.get(SendQueue).enqueue(ids, key));
    expect(calls.flat()).toHaveLength(3);
    await hook.received(120);
    expect(new Set(hook.calls.map(({ headers }) => headers['x-service-delivery']))).toEqual(new Set(ids));
  });

  it('is added to the queue in one call with the jobs of the same moment', async () => {
    const { hook, key } = await subscribed();
    const ids = await Promise.all(Array.from({ length: 120 }, () => due(key, hook.url)));
    const calls = await added(() => Promise.all(ids.map((id) => app.get(SendQueue).enqueue([id], key))));
    expect(calls.map(({ length }) => length)).toEqual([120]);
    await hook.received(120);
  });

  it('is not duplicated by the sweeper when it carries one delivery', async () => {
    const { hook, key } = await subscribed();
    const id = await due(key, hook.url, '1 hour');
    const [queue] = app.get<Queue<SendJob>[]>(SEND_QUEUES);
    await app.get(SendQueue).enqueue([id], key, 60_000);
    // One of another test may end between its id and its data.
    const isForIt = (job?: Job<SendJob>) => job?.data.deliveryIds.includes(id);
    const jobs = async () => (await queue!.getJobs(['waiting', 'delayed', 'active'])).filter(isForIt);
    expect(await jobs()).toHaveLength(1);
    await app.get(SendQueue).enqueueEach([{ id, ...key }]);
    expect(await jobs()).toHaveLength(1);
    const job = await queue!.getJob(id);
    expect(job?.data).toEqual({ deliveryIds: [id], lane: key });
    await job?.remove();
    expect(hook.calls).toHaveLength(0);
  });

  it('sends a delivery once, however many concurrent jobs carry it', async () => {
    const { hook, key } = await subscribed();
    const id = await due(key, hook.url);
    await Promise.all(Array.from({ length: 10 }, () => app.get(DispatchService).attemptQueued(id, key)));
    expect([await status(id), hook.calls.length]).toEqual(['succeeded', 1]);
  });

  it('skips a delivery that a worker has claimed', async () => {
    const { hook, key } = await subscribed();
    const claimed = await due(key, hook.url);
    await app.get(ClaimsRepository).claim(claimed);
    await app.get(DispatchService).attemptQueued(claimed, key);
    expect([await status(claimed), hook.calls.length]).toEqual(['pending', 0]);
  });

  it('leaves a delivery that is not due yet to the sweeper', async () => {
    const { hook, key } = await subscribed();
    const early = await insertDueDelivery(database, key, hook.url, { due: '1 hour', leased: '2 hours' });
    await app.get(DispatchService).attemptQueued(early, key);
    expect([await leasedFor(key.webhookId), hook.calls.length]).toEqual([0, 0]);
  });

  it('attempts a delivery that the sweeper leased without adding a job, as this one existed', async () => {
    const { hook, key } = await subscribed();
    await app.get(SendQueue).enqueue([await due(key, hook.url, '1 minute')], key);
    await hook.received(1);
  });

  it('extends the lease of a slow attempt, so that the sweeper skips it', async () => {
    let answer: (value?: unknown) => void = () => undefined;
    const { hook, key } = await subscribed(receiver.hook({ after: new Promise((resolve) => (answer = resolve)) }));
    await app.get(EventsService).publish('job.started', STARTED, { userId: key.userId });
    await hook.received(1);
    try {
      await waitFor(async () => (await leasedFor(key.webhookId)) > 13_000, {
        what: 'a row that is leased for longer',
      });
    } finally {
      answer();
    }
    expect(hook.calls).toHaveLength(1);
  });
});
