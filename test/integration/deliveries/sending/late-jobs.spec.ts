import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AdmissionService } from '../../../../src/deliveries/sending/admission.service';
import { DispatchService } from '../../../../src/deliveries/sending/dispatch.service';
import { SendQueue } from '../../../../src/deliveries/send.queue';
import { SlotsService } from '../../../../src/deliveries/slots/slots.service';
import { SweeperService } from '../../../../src/deliveries/sweeping/sweeper.service';
import { ClockService } from '../../../../src/plumbing/database/clock.service';
import { WorkersService } from '../../../../src/plumbing/queue/workers.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { type Hook, useReceiver } from '../../../support/receiver';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { startApplication, stopApplication } from '../../stage/application';

const OTHER_LANE = { userId: 'somebody else', webhookId: randomUUID() };

describeOnStores('A delivery whose job comes late', (store) => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let busy: NestFastifyApplication;
  let idle: NestFastifyApplication;

  beforeAll(async () => {
    database = await cloneDatabase();
    const settings = { ...store.settings(), SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') };
    busy = await startApplication(database.url, [], { ...settings, DELIVERY_CONCURRENCY: '1' });
    idle = await startApplication(database.url, [], { ...settings, DELIVERY_TIMEOUT_MS: '60000' });
    // The busy one takes no jobs, the test hands it one; the idle one admits nothing.
    await busy.get(WorkersService).stop();
    await idle.get(AdmissionService).stop();
  });
  afterAll(async () => {
    await stopApplication(busy);
    await stopApplication(idle);
    await database.drop();
  });

  /** A pending delivery whose job comes late: its lease expires in half a second. */
  async function lateDelivery(webhookId: string, userId: string, url: string): Promise<string> {
    const { id } = idle.get(ClockService).birth();
    await database.query(
      `with event as (
         insert into webhook_service.events (id, name, user_id, body, fanned_out_at, leased_until)
         values ($1, 'job.started', $2, '{}', now(), now())
       )
       insert into webhook_service.deliveries
         (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until)
       values ($1, $3, $2, $1, 'job.started', $4, 1, 'event', 'pending', now() - interval '9.5 seconds',
               now() + interval '0.5 seconds')`,
      [id, userId, webhookId, url],
    );
    return id;
  }

  const rowOf = async (id: string) => {
    const [row] = await database.query<{ status: string; parked: boolean }>(
      'select status, parked from webhook_service.deliveries where id = $1',
      [id],
    );
    return row;
  };

  /** The end of the first lease has passed. */
  const isOverdue = (id: string) => holds(`scheduled_at + interval '10 seconds' < now()`, id);
  const isExtended = (id: string) => holds(`leased_until > now() + interval '5 seconds'`, id);

  async function holds(condition: string, id: string): Promise<boolean> {
    const where = `id = $1 and ${condition}`;
    return (await database.query(`select from webhook_service.deliveries where ${where}`, [id])).length === 1;
  }

  /** The offer of a job that the busy process has taken from the queue. */
  const attemptOffered = (deliveryId: string) =>
    busy.get(DispatchService).attemptOffered({ deliveryId, leasedUntilMs: undefined, ownsDeliveryId: false });

  /** A webhook of a user of its own, and a late delivery to it. */
  async function late(hook: Hook): Promise<string> {
    const userId = `user-${randomUUID()}`;
    const wanted = { url: hook.url, events: ['job.started'] };
    const { webhook } = await idle.get(WebhooksService).create(userId, wanted);
    return lateDelivery(webhook.id, userId, hook.url);
  }

  it('is not taken by the sweeper while it is sent, and so is sent once', async () => {
    let answer: () => void = () => undefined;
    const hook = receiver.hook({ after: new Promise<void>((resolve) => (answer = resolve)) });
    const id = await late(hook);
    const enqueue = jest.spyOn(idle.get(SendQueue), 'enqueue');
    const sending = attemptOffered(id);
    await hook.received(1);

    await waitFor(() => isOverdue(id), { what: 'the end of the lease of its job' });
    await idle.get(SweeperService).sweep();
    const swept = enqueue.mock.calls.flat(2);
    answer();
    await sending;

    expect({ swept, calls: hook.calls.length, row: await rowOf(id) }).toEqual({
      swept: [],
      calls: 1,
      row: { status: 'succeeded', parked: false },
    });
  });

  it('is left to admission when it was parked meanwhile', async () => {
    const hook = receiver.hook();
    const id = await late(hook);
    await database.query('update webhook_service.deliveries set parked = true where id = $1', [id]);
    await attemptOffered(id);
    expect({ calls: hook.calls.length, row: await rowOf(id) }).toEqual({
      calls: 0,
      row: { status: 'pending', parked: true },
    });
  });

  it('is not parked when the sweeper has taken its row meanwhile, and so is sent once', async () => {
    let answer: () => void = () => undefined;
    const hook = receiver.hook({ after: new Promise<void>((resolve) => (answer = resolve)) });
    const id = await late(hook);
    const slots = busy.get(SlotsService);
    slots.acquireAnyway(OTHER_LANE);
    const waiting = attemptOffered(id);
    await waitFor(() => isExtended(id), { what: 'the row, taken by the busy process' });

    await database.query('update webhook_service.deliveries set leased_until = now() where id = $1', [id]);
    const swept = async () => (await idle.get(SweeperService).sweep()).deliveries === 1;
    await waitFor(swept, { what: 'a sweep that takes the row whose lease has expired' });
    await hook.received(1);
    await waiting;
    const underWay = await rowOf(id);
    // What is parked is admitted by the process that had no slot before, and then sent.
    slots.release(OTHER_LANE, null);
    await waitFor(async () => !(await rowOf(id))?.parked, { what: 'nothing that is parked' });
    answer();
    await waitFor(async () => (await rowOf(id))?.status === 'succeeded', { what: 'the outcome' });
    await busy.get(WorkersService).stop();

    expect({ underWay, calls: hook.calls.length }).toEqual({
      underWay: { status: 'pending', parked: false },
      calls: 1,
    });
  });
});
