import { randomUUID } from 'node:crypto';
import { getQueueToken } from '@nestjs/bullmq';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Queue } from 'bullmq';
import { DataSource } from 'typeorm';
import { FanOutRepository } from '../../../../src/deliveries/fan-out/fan-out.repository';
import { FanOutService } from '../../../../src/deliveries/fan-out/fan-out.service';
import { firstDeliveryId } from '../../../../src/deliveries/fan-out/first-delivery-id';
import { SlotsService } from '../../../../src/deliveries/slots/slots.service';
import { SweeperService } from '../../../../src/deliveries/sweeping/sweeper.service';
import { FAN_OUT_QUEUE, FanOutQueue } from '../../../../src/events/fan-out.queue';
import { ClockService } from '../../../../src/infrastructure/database/clock.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { type Hook, useReceiver } from '../../../support/receiver';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { startApplication, stopApplication } from '../../stage/application';

interface Row {
  id: string;
  attempt: number;
  status: string;
  error: string | null;
  /** The transaction that wrote this version of the row. */
  xmin: string;
}

/** Returns a promise and the function that resolves it. */
function promised(): [promise: Promise<void>, resolve: () => void] {
  let resolve: () => void = () => undefined;
  return [new Promise<void>((done) => (resolve = done)), resolve];
}

describeOnStores('The first attempt of an event', (store) => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let app: NestFastifyApplication;
  let other: NestFastifyApplication;

  beforeAll(async () => {
    database = await cloneDatabase();
    const key = Buffer.alloc(32, 1).toString('base64');
    // No retry starts during a test.
    const settings = { ...store.settings(), SECRETS_KEY: key, RETRY_BASE_DELAY_MS: '3600000' };
    app = await startApplication(database.url, [], { ...settings, DELIVERY_TIMEOUT_MS: '60000' });
    other = await startApplication(database.url, [], { ...settings, DELIVERY_CONCURRENCY: '1' });
  });
  afterAll(async () => {
    await stopApplication(app);
    await stopApplication(other);
    await database.drop();
  });

  async function subscribed(userId: string, hook: Hook): Promise<string> {
    const { webhook } = await app.get(WebhooksService).create(userId, { url: hook.url, events: ['job.started'] });
    return webhook.id;
  }

  /** An event that is not enqueued yet. */
  async function event(userId: string, body = '{}'): Promise<string> {
    const { id } = app.get(ClockService).newId();
    const insert = `insert into webhook_service.events (id, name, user_id, body) values ($1, 'job.started', $2, $3)`;
    await database.query(insert, [id, userId, body]);
    return id;
  }

  const rowsOf = (eventId: string) =>
    database.query<Row>(
      `select id, attempt, status, error_code as error, xmin::text from webhook_service.deliveries
       where event_id = $1 order by id`,
      [eventId],
    );

  const isFannedOut = async (eventId: string) => {
    const [row] = await database.query<{ done: boolean }>(
      'select fanned_out_at is not null as done from webhook_service.events where id = $1',
      [eventId],
    );
    return row?.done;
  };

  const fanOut = (eventId: string, by = app) => by.get(FanOutService).add({ id: eventId, userId: '' });

  it('has one row, written once, in the transaction that completes its event', async () => {
    const [userId, hook] = [randomUUID(), receiver.hook()];
    await subscribed(userId, hook);
    const id = await event(userId);
    await fanOut(id);
    const [row] = await rowsOf(id);
    const [{ xmin } = { xmin: '' }] = await database.query<{ xmin: string }>(
      'select xmin::text from webhook_service.events where id = $1 and fanned_out_at is not null',
      [id],
    );
    expect([row, hook.calls.length]).toMatchObject([{ status: 'succeeded', xmin }, 1]);
  });

  it('is recorded together with the next attempt when it fails', async () => {
    const [userId, hook] = [randomUUID(), receiver.hook({ status: 500 })];
    await subscribed(userId, hook);
    const id = await event(userId);
    await fanOut(id);
    const [first, next] = await rowsOf(id);
    expect([first, next]).toMatchObject([
      { attempt: 1, status: 'failed', error: 'http_status' },
      { attempt: 2, status: 'pending', xmin: first!.xmin },
    ]);
  });

  it('gets a pending row after a second, and its event completes without waiting for it', async () => {
    const [answered, answer] = promised();
    const [userId, hook] = [randomUUID(), receiver.hook({ after: answered })];
    await subscribed(userId, hook);
    const id = await event(userId);
    await fanOut(id);
    const [pending] = await rowsOf(id);
    expect([pending, await isFannedOut(id)]).toMatchObject([{ status: 'pending' }, true]);
    answer();
    await waitFor(async () => (await rowsOf(id))[0]?.status === 'succeeded', { what: 'the outcome' });
    expect([(await rowsOf(id)).length, hook.calls.length]).toEqual([1, 1]);
  });

  it('is made once when two workers fan out the event at the same time', async () => {
    const [userId, hook] = [randomUUID(), receiver.hook()];
    await subscribed(userId, hook);
    const id = await event(userId);
    // The state in which the sweeper leaves the event, or a late job finds it.
    await database.query('update webhook_service.events set leased_until = now() where id = $1', [id]);
    await Promise.all([fanOut(id), fanOut(id, other)]);
    await waitFor(() => isFannedOut(id), { what: 'the fan-out' });
    expect([(await rowsOf(id)).length, hook.calls.length]).toEqual([1, 1]);
  });

  it('is not repeated by a worker that receives the event while another one holds it', async () => {
    const [answered, answer] = promised();
    const [userId, hook, silent] = [randomUUID(), receiver.hook(), receiver.hook({ after: answered })];
    await Promise.all([subscribed(userId, hook), subscribed(userId, silent)]);
    const id = await event(userId);
    const held = fanOut(id);
    const isClaimed = async () =>
      (await database.query('select from webhook_service.events where id = $1 and claimed', [id])).length === 1;
    await waitFor(isClaimed, { what: 'the claim in the row' });
    await fanOut(id, other);
    answer();
    await held;
    expect([hook.calls.length, silent.calls.length]).toEqual([1, 1]);
  });

  it('is made only for webhooks without a row after a worker died during the fan-out', async () => {
    const [userId, sent, unsent] = [randomUUID(), receiver.hook(), receiver.hook()];
    const webhookId = await subscribed(userId, sent);
    await subscribed(userId, unsent);
    const id = await event(userId);
    await database.query(
      `insert into webhook_service.deliveries
         (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until)
       values ($1, $2, $3, $4, 'job.started', $5, 1, 'event', 'succeeded', now(), now())`,
      [firstDeliveryId(id, webhookId), webhookId, userId, id, sent.url],
    );
    await database.query('update webhook_service.events set claimed = true, leased_until = now() where id = $1', [id]);
    await waitFor(() => app.get(SweeperService).sweep(), { what: 'a sweep' });
    await waitFor(() => isFannedOut(id), { what: 'the rest of the fan-out' });
    expect([sent.calls.length, unsent.calls.length, (await rowsOf(id)).length]).toEqual([0, 1, 2]);
  });

  it('is not repeated by its job or the sweeper when completing its event fails', async () => {
    const [userId, hooks] = [randomUUID(), [receiver.hook(), receiver.hook()]];
    for (const hook of hooks) await subscribed(userId, hook);
    const id = await event(userId);
    const marks = [app, other].map((one) => jest.spyOn(one.get(FanOutRepository), 'complete'));
    for (const mark of marks) mark.mockRejectedValueOnce(new Error('cut off'));
    await app.get(FanOutQueue).enqueue([{ id, userId }]);
    await waitFor(() => marks.some(({ mock }) => mock.calls.length > 0), { what: 'a failed completion' });
    for (const mark of marks) mark.mockRestore();
    const isIdle = async () => (await app.get<Queue>(getQueueToken(FAN_OUT_QUEUE)).getJobCounts()).active === 0;
    await waitFor(isIdle, { what: 'the end of the job' });
    expect(await app.get<Queue>(getQueueToken(FAN_OUT_QUEUE)).count()).toBe(0);
    await database.query('update webhook_service.events set leased_until = now() where id = $1', [id]);
    await waitFor(() => app.get(SweeperService).sweep(), { what: 'a sweep' });
    await waitFor(() => isFannedOut(id), { what: 'the completion of the event' });
    expect(hooks.map(({ calls }) => calls.length)).toEqual([1, 1]);
  });

  it('is not repeated when a PostgreSQL crash has undone the completion of its event and job', async () => {
    const [userId, hook] = [randomUUID(), receiver.hook()];
    await subscribed(userId, hook);
    const id = await event(userId);
    await fanOut(id);
    // As recent as possible.
    await database.query(
      `update webhook_service.events
       set fanned_out_at = null, accepted_at = now(), leased_until = now() + interval '5 seconds' where id = $1`,
      [id],
    );
    await fanOut(id, other);
    expect([await isFannedOut(id), hook.calls.length]).toEqual([true, 1]);
  });

  it('is not retried when its webhook was disabled in the meantime', async () => {
    const [answered, answer] = promised();
    const [userId, hook] = [randomUUID(), receiver.hook({ status: 500, after: answered })];
    const webhookId = await subscribed(userId, hook);
    const id = await event(userId);
    const attempted = fanOut(id);
    await hook.received(1);
    await app.get(WebhooksService).update(userId, webhookId, { active: false });
    answer();
    await attempted;
    expect(await rowsOf(id)).toMatchObject([{ attempt: 1, status: 'failed' }]);
  });

  it('waits for a concurrent change of its webhook, but not of other webhooks', async () => {
    const [answered, answer] = promised();
    const users = [randomUUID(), randomUUID()] as const;
    const hooks = [receiver.hook({ status: 500, after: answered }), receiver.hook({ status: 500, after: answered })];
    const webhookId = await subscribed(users[0], hooks[0]!);
    await subscribed(users[1], hooks[1]!);
    const [locked, free] = await Promise.all(users.map((userId) => event(userId)));
    const changing = app.get(DataSource).createQueryRunner();
    await changing.startTransaction();
    await changing.query('update webhook_service.webhooks set active = false where id = $1', [webhookId]);
    const both = [fanOut(locked!), fanOut(free!)];
    await Promise.all(hooks.map((hook) => hook.received(1)));
    answer();
    await both[1];
    const meanwhile = [await rowsOf(locked!), await isFannedOut(locked!)];
    await changing.commitTransaction();
    await changing.release();
    await both[0];
    expect(meanwhile).toEqual([[], false]);
    expect([await rowsOf(locked!), (await rowsOf(free!)).length]).toMatchObject([[{ status: 'failed' }], 2]);
  });

  it('is not made when its webhook was deleted while it waited for a slot', async () => {
    const [userId, hook] = [randomUUID(), receiver.hook()];
    const webhookId = await subscribed(userId, hook);
    const id = await event(userId);
    const [slots, busy] = [other.get(SlotsService), { userId: 'somebody else', webhookId: randomUUID() }];
    void slots.acquire(busy);
    const acquire = jest.spyOn(slots, 'acquire');
    const waiting = fanOut(id, other);
    const isWaiting = () => acquire.mock.calls.some(([key]) => key.webhookId === webhookId);
    await waitFor(isWaiting, { what: 'a delivery that waits for a slot' });
    await app.get(WebhooksService).remove(userId, { id: webhookId });
    slots.release(busy, null);
    await waiting;
    expect([await rowsOf(id), hook.calls.length]).toMatchObject([
      [{ status: 'canceled', error: 'webhook_deleted' }],
      0,
    ]);
  });

  it('is deferred when its body is too large to wait in memory, and is delivered later', async () => {
    const [userId, hook, body] = [randomUUID(), receiver.hook(), JSON.stringify({ large: 'x'.repeat(70_000) })];
    await subscribed(userId, hook);
    const id = await event(userId, body);
    await fanOut(id);
    const [call] = await hook.received(1);
    expect(call!.body.toString()).toBe(body);
    await waitFor(async () => (await rowsOf(id))[0]?.status === 'succeeded', { what: 'the outcome' });
  });
});
