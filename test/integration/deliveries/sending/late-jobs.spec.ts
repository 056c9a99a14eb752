import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DeferredDispatchService } from '../../../../src/deliveries/sending/deferred-dispatch.service';
import { DispatchService } from '../../../../src/deliveries/sending/dispatch.service';
import { SendQueue } from '../../../../src/deliveries/send.queue';
import type { PartitionKey } from '../../../../src/deliveries/rows/attempt';
import { SlotsService } from '../../../../src/deliveries/slots/slots.service';
import { SweeperService } from '../../../../src/deliveries/sweeping/sweeper.service';
import { WorkersService } from '../../../../src/infrastructure/queue/workers.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { type Hook, useReceiver } from '../../../support/receiver';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { startApplication, stopApplication } from '../../stage/application';
import { insertDueDelivery } from '../../stage/due-delivery';

describeOnStores('A delivery whose job is late', (store) => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let busy: NestFastifyApplication;
  let idle: NestFastifyApplication;

  beforeAll(async () => {
    database = await cloneDatabase();
    const settings = { ...store.settings(), SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') };
    busy = await startApplication(database.url, [], settings);
    idle = await startApplication(database.url, [], { ...settings, DELIVERY_TIMEOUT_MS: '60000' });
    // The busy one takes no jobs, the test hands it one. Deferred deliveries stay deferred: no process dispatches them.
    await busy.get(WorkersService).stop();
    await Promise.all([busy, idle].map((app) => app.get(DeferredDispatchService).stop()));
  });
  afterAll(async () => {
    await stopApplication(busy);
    await stopApplication(idle);
    await database.drop();
  });

  const rowOf = async (id: string) => {
    const [row] = await database.query<{ status: string; parked: boolean }>(
      'select status, parked from webhook_service.deliveries where id = $1',
      [id],
    );
    return row;
  };

  afterEach(() => jest.restoreAllMocks());

  /** Whether the first lease has expired. */
  const isOverdue = (id: string) => holds(`scheduled_at + interval '10 seconds' < now()`, id);

  async function holds(condition: string, id: string): Promise<boolean> {
    const where = `id = $1 and ${condition}`;
    return (await database.query(`select from webhook_service.deliveries where ${where}`, [id])).length === 1;
  }

  /** Attempts a delivery in the busy process, as a job of the queue would. */
  const attemptQueued = ({ id, key }: { id: string; key: PartitionKey }) =>
    busy.get(DispatchService).attemptQueued(id, key);

  /** Creates a webhook of a new user, and a delivery to it whose lease expires in half a second. */
  async function late(hook: Hook): Promise<{ id: string; key: PartitionKey }> {
    const userId = `user-${randomUUID()}`;
    const wanted = { url: hook.url, events: ['job.started'] };
    const { webhook } = await idle.get(WebhooksService).create(userId, wanted);
    const key = { userId, webhookId: webhook.id };
    return { id: await insertDueDelivery(database, key, hook.url, { due: '-9.5 s', leased: '0.5 s' }), key };
  }

  it('is not claimed by the sweeper while it is in flight, so it is sent once', async () => {
    let answer: () => void = () => undefined;
    const hook = receiver.hook({ after: new Promise<void>((resolve) => (answer = resolve)) });
    const delivery = await late(hook);
    const enqueue = jest.spyOn(idle.get(SendQueue), 'enqueueEach');
    const sending = attemptQueued(delivery);
    await hook.received(1);

    await waitFor(() => isOverdue(delivery.id), { what: 'the end of the first lease' });
    await idle.get(SweeperService).sweep();
    const swept = enqueue.mock.calls.flat(2);
    answer();
    await sending;

    expect({ swept, calls: hook.calls.length, row: await rowOf(delivery.id) }).toEqual({
      swept: [],
      calls: 1,
      row: { status: 'succeeded', parked: false },
    });
  });

  it('is left to the dispatch when it was deferred in the meantime', async () => {
    const hook = receiver.hook();
    const delivery = await late(hook);
    await database.query('update webhook_service.deliveries set parked = true where id = $1', [delivery.id]);
    await attemptQueued(delivery);
    expect({ calls: hook.calls.length, row: await rowOf(delivery.id) }).toEqual({
      calls: 0,
      row: { status: 'pending', parked: true },
    });
  });

  it.each([
    ['gets a slot after it was sent', true],
    ['gets no slot', false],
  ])('is left to the worker that received it from the sweeper when its job %s', async (_, findsSlot) => {
    let answer: () => void = () => undefined;
    const hook = receiver.hook({ after: new Promise<void>((resolve) => (answer = resolve)) });
    const delivery = await late(hook);
    const slots = busy.get(SlotsService);
    let grant: (acquired: boolean) => void = () => undefined;
    // The real wait is at most a second, too short for a sweep on a slow machine.
    jest.spyOn(slots, 'acquire').mockReturnValueOnce(new Promise((resolve) => (grant = resolve)));
    const waiting = attemptQueued(delivery);
    await database.query('update webhook_service.deliveries set leased_until = now() where id = $1', [delivery.id]);
    const isSent = async () => {
      await idle.get(SweeperService).sweep();
      return hook.calls.length === 1;
    };
    await waitFor(isSent, { what: 'a sweep that claims the row with the expired lease' });
    if (findsSlot) await slots.acquire(delivery.key);
    grant(findsSlot);
    await waiting;
    const underWay = await rowOf(delivery.id);
    answer();
    await waitFor(async () => (await rowOf(delivery.id))?.status === 'succeeded', { what: 'the outcome' });

    expect({ underWay, calls: hook.calls.length }).toEqual({
      underWay: { status: 'pending', parked: false },
      calls: 1,
    });
  });
});
