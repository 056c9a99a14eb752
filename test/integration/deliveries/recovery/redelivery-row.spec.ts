import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DeliveryLogService } from '../../../../src/deliveries/log/delivery-log.service';
import { RedeliveryService } from '../../../../src/deliveries/recovery/redelivery.service';
import { SendQueue } from '../../../../src/deliveries/send.queue';
import { EventsService } from '../../../../src/events/events.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { useReceiver } from '../../../support/receiver';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { startApplication, stopApplication } from '../../stage/application';

const STARTED = { queue: 'films', jobId: '1', name: 'render', attempt: 1, startedAt: '2026-11-20T10:00:00.000Z' };

describeOnStores('A redelivery', (store) => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let app: NestFastifyApplication;

  beforeAll(async () => {
    database = await cloneDatabase();
    app = await startApplication(database.url, [], store.settings());
  });
  afterAll(async () => {
    await stopApplication(app);
    await database.drop();
  });

  it('is answered as its row was inserted, however quickly it is sent', async () => {
    const [userId, hook] = [`user-${randomUUID()}`, receiver.hook()];
    const { webhook } = await app.get(WebhooksService).create(userId, { url: hook.url, events: ['job.started'] });
    await app.get(EventsService).publish('job.started', STARTED, { userId });
    const log = app.get(DeliveryLogService);
    const settled = async (count: number) => {
      const { items } = await log.list(userId, webhook.id, { limit: 10 });
      return items.length === count && items.every(({ status }) => status === 'succeeded') && items;
    };
    const [first] = await waitFor(() => settled(1), { what: 'the first delivery' });

    const queue = app.get(SendQueue);
    const offer = queue.offer.bind(queue);
    const offered = jest.spyOn(queue, 'offer').mockImplementation(async (ids, lane) => {
      await offer(ids, lane);
      await waitFor(() => settled(2), { what: 'the redelivery' });
    });
    const answered = await app.get(RedeliveryService).redeliver(userId, webhook.id, first!.id);
    offered.mockRestore();
    expect(answered).toMatchObject({ status: 'pending', trigger: 'redelivery', attempt: 1, completedAt: null });
  });
});
