import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AdmissionService } from '../../../../src/deliveries/sending/admission.service';
import { DispatchService } from '../../../../src/deliveries/sending/dispatch.service';
import { SendQueue } from '../../../../src/deliveries/send.queue';
import type { Lane } from '../../../../src/deliveries/lane';
import { SlotsService } from '../../../../src/deliveries/slots/slots.service';
import { SweeperService } from '../../../../src/deliveries/sweeping/sweeper.service';
import { WorkersService } from '../../../../src/plumbing/queue/workers.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { type Hook, useReceiver } from '../../../support/receiver';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { startApplication, stopApplication } from '../../stage/application';
import { insertDueDelivery } from '../../stage/due-delivery';

describeOnStores('A delivery whose job comes late', (store) => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let busy: NestFastifyApplication;
  let idle: NestFastifyApplication;

  beforeAll(async () => {
    database = await cloneDatabase();
    const settings = { ...store.settings(), SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') };
    busy = await startApplication(database.url, [], settings);
    idle = await startApplication(database.url, [], { ...settings, DELIVERY_TIMEOUT_MS: '60000' });
    // The busy one takes no jobs, the test hands it one. What is parked stays so: nobody admits.
    await busy.get(WorkersService).stop();
    await Promise.all([busy, idle].map((app) => app.get(AdmissionService).stop()));
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

  /** The end of the first lease has passed. */
  const isOverdue = (id: string) => holds(`scheduled_at + interval '10 seconds' < now()`, id);

  async function holds(condition: string, id: string): Promise<boolean> {
    const where = `id = $1 and ${condition}`;
    return (await database.query(`select from webhook_service.deliveries where ${where}`, [id])).length === 1;
  }

  /** As a job does that the busy process has taken from the queue. */
  const attemptOffered = ({ id, lane }: { id: string; lane: Lane }) =>
    busy.get(DispatchService).attemptOffered(id, lane);

  /** A webhook of a user of its own, and a delivery to it whose job comes late: its lease expires in half a second. */
  async function late(hook: Hook): Promise<{ id: string; lane: Lane }> {
    const userId = `user-${randomUUID()}`;
    const wanted = { url: hook.url, events: ['job.started'] };
    const { webhook } = await idle.get(WebhooksService).create(userId, wanted);
    const lane = { userId, webhookId: webhook.id };
    return { id: await insertDueDelivery(database, lane, hook.url, { due: '-9.5 s', leased: '0.5 s' }), lane };
  }

  it('is not taken by the sweeper while it is sent, and so is sent once', async () => {
    let answer: () => void = () => undefined;
    const hook = receiver.hook({ after: new Promise<void>((resolve) => (answer = resolve)) });
    const offered = await late(hook);
    const enqueue = jest.spyOn(idle.get(SendQueue), 'enqueue');
    const sending = attemptOffered(offered);
    await hook.received(1);

    await waitFor(() => isOverdue(offered.id), { what: 'the end of the lease of its job' });
    await idle.get(SweeperService).sweep();
    const swept = enqueue.mock.calls.flat(2);
    answer();
    await sending;

    expect({ swept, calls: hook.calls.length, row: await rowOf(offered.id) }).toEqual({
      swept: [],
      calls: 1,
      row: { status: 'succeeded', parked: false },
    });
  });

  it('is left to admission when it was parked meanwhile', async () => {
    const hook = receiver.hook();
    const offered = await late(hook);
    await database.query('update webhook_service.deliveries set parked = true where id = $1', [offered.id]);
    await attemptOffered(offered);
    expect({ calls: hook.calls.length, row: await rowOf(offered.id) }).toEqual({
      calls: 0,
      row: { status: 'pending', parked: true },
    });
  });

  it.each([
    ['and finds a slot when it is sent already', true],
    ['and finds none', false],
  ])('is left to the worker that the sweeper has given it meanwhile, %s', async (_, findsSlot) => {
    let answer: () => void = () => undefined;
    const hook = receiver.hook({ after: new Promise<void>((resolve) => (answer = resolve)) });
    const offered = await late(hook);
    const slots = busy.get(SlotsService);
    let grant: (acquired: boolean) => void = () => undefined;
    // It really waits for at most a second, in which a slow machine has not swept.
    jest.spyOn(slots, 'acquire').mockReturnValue(new Promise((resolve) => (grant = resolve)));
    const waiting = attemptOffered(offered);
    await database.query('update webhook_service.deliveries set leased_until = now() where id = $1', [offered.id]);
    const isSent = async () => {
      await idle.get(SweeperService).sweep();
      return hook.calls.length === 1;
    };
    await waitFor(isSent, { what: 'a sweep that takes the row whose lease has expired' });
    if (findsSlot) slots.acquireAnyway(offered.lane);
    grant(findsSlot);
    await waiting;
    const underWay = await rowOf(offered.id);
    answer();
    await waitFor(async () => (await rowOf(offered.id))?.status === 'succeeded', { what: 'the outcome' });

    expect({ underWay, calls: hook.calls.length }).toEqual({
      underWay: { status: 'pending', parked: false },
      calls: 1,
    });
  });
});
