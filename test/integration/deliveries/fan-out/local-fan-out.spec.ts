import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SweeperService } from '../../../../src/deliveries/sweeping/sweeper.service';
import { FanOutRepository, type Page } from '../../../../src/deliveries/fan-out/fan-out.repository';
import { FanOutService } from '../../../../src/deliveries/fan-out/fan-out.service';
import { EventsService } from '../../../../src/events/events.service';
import { FanOutQueue, type StoredEvent } from '../../../../src/events/fan-out.queue';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { startApplication, stopApplication } from '../../stage/application';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { type Hook, useReceiver } from '../../../support/receiver';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';

const STARTED = { queue: 'films', jobId: '1', name: 'render', attempt: 1, startedAt: '2026-11-20T10:00:00.000Z' };
const MAX_OF_USER = 200;

describeOnStores('In a process that publishes and delivers', (store) => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let app: NestFastifyApplication;
  let jobs: jest.SpyInstance<Promise<void>, [readonly StoredEvent[]]>;

  beforeAll(async () => {
    database = await cloneDatabase();
    app = await startApplication(database.url, [], store.settings());
  });
  afterAll(async () => {
    await stopApplication(app);
    await database.drop();
  });
  beforeEach(() => {
    app.get(FanOutService).start();
    jobs = jest.spyOn(app.get(FanOutQueue), 'enqueue');
  });
  afterEach(async () => {
    app.get(FanOutService).stop();
    jest.restoreAllMocks();
  });

  async function subscribed(): Promise<{ userId: string; hook: Hook }> {
    const [userId, hook] = [`user-${randomUUID()}`, receiver.hook()];
    await app.get(WebhooksService).create(userId, { url: hook.url, events: ['job.started'] });
    return { userId, hook };
  }

  const publish = (userId: string) => app.get(EventsService).publish('job.started', STARTED, { userId });

  const enqueued = () => jobs.mock.calls.flatMap(([events]) => events.map(({ id }) => id));

  it('an event is fanned out without a job', async () => {
    const { userId, hook } = await subscribed();
    const { id } = await publish(userId);
    await hook.received(1);
    expect(enqueued()).not.toContain(id);
  });

  it('events of a user beyond half of the local limit are enqueued for all workers; those of others are not', async () => {
    await waitFor(() => app.get(FanOutService)['known'].size === 0, { what: 'the end of the fan-outs of other tests' });
    let end = (): void => undefined;
    const claimed = new Promise<Map<string, Page>>((resolve) => (end = () => resolve(new Map())));
    jest.spyOn(app.get(FanOutRepository), 'claim').mockReturnValueOnce(claimed);
    const queue = app.get(FanOutQueue);
    const [busy, other] = [await subscribed(), await subscribed()];
    const own = Array.from({ length: MAX_OF_USER + 1 }, () => ({ id: randomUUID(), userId: busy.userId }));
    queue.add(own);
    await waitFor(() => jobs.mock.calls.length > 0, { what: 'a job' });
    expect(enqueued()).toEqual([own.at(-1)?.id]);
    const { id } = await publish(other.userId);
    await other.hook.received(1);
    expect(enqueued()).not.toContain(id);
    end();
    await waitFor(() => app.get(FanOutService)['known'].size === 0, { what: 'the end of the fan-outs' });
    const { id: next } = await publish(busy.userId);
    await busy.hook.received(1);
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

  it('events are enqueued when the local fan-out has stopped, for a worker that has not', async () => {
    const { userId, hook } = await subscribed();
    app.get(FanOutService).stop();
    const { id } = await publish(userId);
    await waitFor(() => enqueued().includes(id), { what: 'a job' });
    app.get(FanOutService).start();
    await hook.received(1);
  });
});
