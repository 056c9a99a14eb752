import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Job, Queue } from 'bullmq';
import { ClaimsRepository } from '../../../../src/deliveries/sending/claims.repository';
import { SEND_QUEUES, type SendJob, SendQueue } from '../../../../src/deliveries/send.queue';
import { DispatchService } from '../../../../src/deliveries/sending/dispatch.service';
import type { Lane } from '../../../../src/deliveries/lane';
import { EventsService } from '../../../../src/events/events.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { startApplication, stopApplication } from '../../stage/application';
import { insertDueDelivery } from '../../stage/due-delivery';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { type Hook, useReceiver } from '../../../support/receiver';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';

const STARTED = { queue: 'films', jobId: '1', name: 'render', attempt: 1, startedAt: '2026-11-20T10:00:00.000Z' };

describeOnStores('A job that offers deliveries', (store) => {
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

  async function subscribed(hook = receiver.hook()): Promise<{ hook: Hook; lane: Lane }> {
    const userId = `user-${randomUUID()}`;
    const { webhook } = await app.get(WebhooksService).create(userId, { url: hook.url, events: ['job.started'] });
    return { hook, lane: { userId, webhookId: webhook.id } };
  }

  const due = (lane: Lane, url: string, leased?: string) => insertDueDelivery(database, lane, url, { leased });

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

  /** What is put on the queues, one call after the other. */
  async function added(offer: () => Promise<unknown>): Promise<unknown[][]> {
    const queues = app.get<Queue<SendJob>[]>(SEND_QUEUES).map((queue) => jest.spyOn(queue, 'addBulk'));
    try {
      await offer();
      return queues.flatMap(({ mock }) => mock.calls.map(([jobs]) => jobs));
    } finally {
      for (const spy of queues) spy.mockRestore();
    }
  }

  it('offers many', async () => {
    const { hook, lane } = await subscribed();
    const ids = await Promise.all(Array.from({ length: 120 }, () => due(lane, hook.url)));
    const calls = await added(() => app.get(SendQueue).offer(ids, lane));
    expect(calls.flat()).toHaveLength(3);
    await hook.received(120);
    expect(new Set(hook.calls.map(({ headers }) => headers['x-service-delivery']))).toEqual(new Set(ids));
  });

  it('is put on the queue together with those that come at the same time', async () => {
    const { hook, lane } = await subscribed();
    const ids = await Promise.all(Array.from({ length: 120 }, () => due(lane, hook.url)));
    const calls = await added(() => Promise.all(ids.map((id) => app.get(SendQueue).offer([id], lane))));
    expect(calls.map(({ length }) => length)).toEqual([120]);
    await hook.received(120);
  });

  it('is not doubled by the sweeper when it offers one', async () => {
    const { hook, lane } = await subscribed();
    const id = await due(lane, hook.url, '1 hour');
    const [queue] = app.get<Queue<SendJob>[]>(SEND_QUEUES);
    await app.get(SendQueue).offer([id], lane, 60_000);
    // One of another test may end between its id and its data.
    const isForIt = (job?: Job<SendJob>) => job?.data.deliveryIds.includes(id);
    const jobs = async () => (await queue!.getJobs(['waiting', 'delayed', 'active'])).filter(isForIt);
    expect(await jobs()).toHaveLength(1);
    await app.get(SendQueue).enqueue([{ id, ...lane }]);
    expect(await jobs()).toHaveLength(1);
    const job = await queue!.getJob(id);
    expect(job?.data).toEqual({ deliveryIds: [id], lane });
    await job?.remove();
    expect(hook.calls).toHaveLength(0);
  });

  it('sends a row once, however many others offer it at the same time', async () => {
    const { hook, lane } = await subscribed();
    const id = await due(lane, hook.url);
    await Promise.all(Array.from({ length: 10 }, () => app.get(DispatchService).attemptOffered(id, lane)));
    expect([await status(id), hook.calls.length]).toEqual(['succeeded', 1]);
  });

  it('leaves a row alone that a worker has claimed', async () => {
    const { hook, lane } = await subscribed();
    const claimed = await due(lane, hook.url);
    await app.get(ClaimsRepository).claim([claimed]);
    await app.get(DispatchService).attemptOffered(claimed, lane);
    expect([await status(claimed), hook.calls.length]).toEqual(['pending', 0]);
  });

  it('gives a row that it offers much too early to the sweeper, for when it is due', async () => {
    const { hook, lane } = await subscribed();
    const early = await insertDueDelivery(database, lane, hook.url, { due: '1 hour', leased: '2 hours' });
    await app.get(DispatchService).attemptOffered(early, lane);
    expect([await leasedFor(lane.webhookId), hook.calls.length]).toEqual([0, 0]);
  });

  it('takes a row that the sweeper has taken without a job of its own, because this one was known', async () => {
    const { hook, lane } = await subscribed();
    await app.get(SendQueue).offer([await due(lane, hook.url, '1 minute')], lane);
    await hook.received(1);
  });

  it('keeps the sweeper from an attempt that takes long', async () => {
    let answer: (value?: unknown) => void = () => undefined;
    const { hook, lane } = await subscribed(receiver.hook({ after: new Promise((resolve) => (answer = resolve)) }));
    await app.get(EventsService).publish('job.started', STARTED, { userId: lane.userId });
    await hook.received(1);
    try {
      await waitFor(async () => (await leasedFor(lane.webhookId)) > 13_000, {
        what: 'a row that is leased for longer',
      });
    } finally {
      answer();
    }
    expect(hook.calls).toHaveLength(1);
  });
});
