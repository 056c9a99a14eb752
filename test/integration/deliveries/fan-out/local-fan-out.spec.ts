import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SweeperService } from '../../../../src/deliveries/sweeping/sweeper.service';
import { FanOutRepository } from '../../../../src/deliveries/fan-out/fan-out.repository';
import { FanOutService } from '../../../../src/deliveries/fan-out/fan-out.service';
import { LocalFanOutService } from '../../../../src/deliveries/fan-out/local-fan-out.service';
import { EventsService } from '../../../../src/events/events.service';
import { FanOutQueue } from '../../../../src/events/fan-out.queue';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { startApplication, stopApplication } from '../../stage/application';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { type Hook, useReceiver } from '../../../support/receiver';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';

const STARTED = { queue: 'films', jobId: '1', name: 'render', attempt: 1, startedAt: '2026-11-20T10:00:00.000Z' };
const MAX_EVENTS = 200;

describeOnStores('In a process that publishes and delivers', (store) => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let app: NestFastifyApplication;
  let jobs: jest.SpyInstance<Promise<void>, [string[]]>;

  beforeAll(async () => {
    database = await cloneDatabase();
    app = await startApplication(database.url, [], store.settings());
  });
  afterAll(async () => {
    await stopApplication(app);
    await database.drop();
  });
  beforeEach(() => {
    app.get(LocalFanOutService).start();
    jobs = jest.spyOn(app.get(FanOutQueue), 'enqueue');
  });
  afterEach(async () => {
    app.get(LocalFanOutService).stop();
    jest.restoreAllMocks();
  });

  async function subscribed(): Promise<{ userId: string; hook: Hook }> {
    const [userId, hook] = [`user-${randomUUID()}`, receiver.hook()];
    await app.get(WebhooksService).create(userId, { url: hook.url, events: ['job.started'] });
    return { userId, hook };
  }

  const publish = (userId: string) => app.get(EventsService).publish('job.started', STARTED, { userId });

  const enqueued = () => jobs.mock.calls.flatMap(([ids]) => ids);

  it('an event is fanned out without a job', async () => {
    const { userId, hook } = await subscribed();
    const { id } = await publish(userId);
    await hook.received(1);
    expect(enqueued()).not.toContain(id);
  });

  it('events beyond the local limit are enqueued for all workers until there is room again', async () => {
    await waitFor(() => app.get(FanOutService)['held'].size === 0, {
      what: 'the end of the fan-outs of other tests',
    });
    let end = (): void => undefined;
    const busy = new Promise<void>((resolve) => (end = resolve));
    const fanOut = jest.spyOn(app.get(FanOutService), 'fanOutAll').mockReturnValue(busy);
    const queue = app.get(FanOutQueue);
    queue.add(Array.from({ length: MAX_EVENTS }, () => randomUUID()));
    expect(fanOut).toHaveBeenCalledTimes(1);
    fanOut.mockRestore();
    const { userId, hook } = await subscribed();
    const { id } = await publish(userId);
    await hook.received(1);
    expect(enqueued()).toContain(id);
    end();
    await busy;
    const { id: next } = await publish(userId);
    await hook.received(2);
    expect(enqueued()).not.toContain(next);
  });

  it('the sweeper recovers an event whose fan-out failed', async () => {
    const { userId, hook } = await subscribed();
    const claim = jest.spyOn(app.get(FanOutRepository), 'claim').mockImplementationOnce(() => {
      throw new Error('not now');
    });
    const { id } = await publish(userId);
    await waitFor(() => claim.mock.calls.length > 0, { what: 'a failed fan-out' });
    await database.query(`update webhook_service.events set leased_until = now() where id = $1`, [id]);
    expect((await waitFor(() => app.get(SweeperService).sweep(), { what: 'a sweep' })).events).toBe(1);
    await hook.received(1);
  });

  it('events are enqueued when the local fan-out has stopped', async () => {
    const { userId, hook } = await subscribed();
    app.get(LocalFanOutService).stop();
    const { id } = await publish(userId);
    await hook.received(1);
    expect(jobs).toHaveBeenCalledWith([id]);
  });
});
