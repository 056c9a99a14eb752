import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Queue } from 'bullmq';
import type { Principal } from '../../../../src/auth/access-token';
import { DeliveryLogService } from '../../../../src/deliveries/log/delivery-log.service';
import { RedeliveryService } from '../../../../src/deliveries/recovery/redelivery.service';
import { SEND_QUEUES, type SendJob, SendQueue } from '../../../../src/deliveries/send.queue';
import { SlotsService } from '../../../../src/deliveries/slots/slots.service';
import { EventsService } from '../../../../src/events/events.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { useReceiver } from '../../../support/receiver';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { startApplication, stopApplication } from '../../stage/application';
import { insertDueDelivery } from '../../stage/due-delivery';

const SECRETS_KEY = Buffer.alloc(32, 1).toString('base64');
const OTHER_KEY = { userId: 'somebody else', webhookId: randomUUID() };
const STARTED = { queue: 'films', jobId: '1', name: 'render', attempt: 1, startedAt: '2026-11-20T10:00:00.000Z' };

describeOnStores('A redelivery', (store) => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let app: NestFastifyApplication;
  // Two processes share the key, so each can open secrets that the other has sealed.
  const settings = () => ({ ...store.settings(), DELIVERY_CONCURRENCY: '1', SECRETS_KEY });

  beforeAll(async () => {
    database = await cloneDatabase();
    app = await startApplication(database.url, [], settings());
  });
  afterAll(async () => {
    await stopApplication(app);
    await database.drop();
  });

  it('returns its row as inserted, however quickly it is sent', async () => {
    const [userId, hook] = [`user-${randomUUID()}`, receiver.hook()];
    const { webhook } = await app.get(WebhooksService).create(userId, { url: hook.url, events: ['job.started'] });
    await app.get(EventsService).publish('job.started', STARTED, { userId });
    const log = app.get(DeliveryLogService);
    const settled = async (count: number) => {
      const { items } = await log.list(
        { userId } as Principal,
        webhook.id,
        { limit: 10 },
        new AbortController().signal,
      );
      return items.length === count && items.every(({ status }) => status === 'succeeded') && items;
    };
    const [first] = await waitFor(() => settled(1), { what: 'the first delivery' });

    const queue = app.get(SendQueue);
    const enqueue = queue.enqueue.bind(queue);
    const enqueued = jest.spyOn(queue, 'enqueue').mockImplementation(async (ids, key) => {
      await enqueue(ids, key);
      await waitFor(() => settled(2), { what: 'the redelivery' });
    });
    const answered = await app.get(RedeliveryService).redeliver(userId, webhook.id, first!.id);
    enqueued.mockRestore();
    expect(answered.delivery).toMatchObject({
      status: 'pending',
      trigger: 'redelivery',
      attempt: 1,
      completedAt: null,
    });
  });

  it.each([
    ['waits until it is due', { due: '1 hour', leased: '2 hours' }, false],
    ['waits for a slot', { due: '-1 minute', leased: '1 hour' }, true],
  ])('of a delivery that %s makes it due once in all processes, and it is sent once', async (_, times, isDeferred) => {
    const other = await startApplication(database.url, [], settings());
    const slots = [app, other].map((process) => process.get(SlotsService));
    try {
      // Nothing is sent before all redeliveries are requested.
      for (const one of slots) void one.acquire(OTHER_KEY);
      const [userId, hook] = [`user-${randomUUID()}`, receiver.hook()];
      const { webhook } = await app.get(WebhooksService).create(userId, { url: hook.url, events: ['job.started'] });
      const key = { userId, webhookId: webhook.id };
      const id = await insertDueDelivery(database, key, hook.url, times);
      await app.get(SendQueue).enqueue([id], key, 1500);
      if (isDeferred) await database.query('update webhook_service.deliveries set parked = true where id = $1', [id]);
      const asked = Array.from({ length: 10 }, (__, i) =>
        (i % 2 === 0 ? app : other).get(RedeliveryService).redeliver(userId, webhook.id, id),
      );
      const made = (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled');
      expect(made).toMatchObject([{ value: { isNew: false, delivery: { id, parked: true, attempt: 1 } } }]);
      for (const one of slots) one.release(OTHER_KEY, null);
      await hook.received(1);
      const jobs = app.get<Queue<SendJob>[]>(SEND_QUEUES);
      const isOver = async () =>
        (await Promise.all(jobs.map((queue) => queue.getDelayedCount()))).every((n) => n === 0);
      await waitFor(isOver, { what: 'the end of the delayed job' });
      expect(hook.calls).toHaveLength(1);
    } finally {
      await stopApplication(other);
    }
  });
});
