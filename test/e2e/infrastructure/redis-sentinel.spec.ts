import { Queue, Worker } from 'bullmq';
import { exchange } from '../../support/api';
import { type Answer, useReceiver } from '../../support/receiver';
import { startProxy } from '../../support/proxy';
import { freePort, type Service, startService } from '../../support/service';
import { describeWithSentinels } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { publish, settledDeliveries, subscribe } from '../stage/steps';

const REPORTS = 'reports';

describeWithSentinels('The service', (sentinels) => {
  const receiver = useReceiver();
  let service: Service;
  beforeAll(async () => {
    service = await startService({
      // The first Sentinel is down.
      REDIS_URL: sentinels().url.replace('@', '@127.0.0.1:1,'),
      MONITORED_QUEUES_REDIS_URL: sentinels().url,
      MONITORED_QUEUES: REPORTS,
      RETRY_BASE_DELAY_MS: '1000',
    });
  });
  afterAll(async () => expect(await service.stop()).toBe(0));

  it('delivers, and retries through the queue on the master', async () => {
    const hook = receiver.hook({ status: 500 }, { status: 200 });
    const webhook = await subscribe(service.api, hook, ['job.started']);
    const event = await publish(service.api, 'job.started');
    const deliveries = await settledDeliveries(service.api, webhook, event);
    expect(deliveries.map(({ status }) => status)).toEqual(['failed', 'succeeded']);
  });

  it('publishes events for the jobs of a queue there', async () => {
    const hook = receiver.hook();
    await subscribe(service.api, hook, ['job.completed']);
    const connection = { url: await sentinels().masterUrl(), maxRetriesPerRequest: null };
    const queue = new Queue(REPORTS, { connection });
    const worker = new Worker(REPORTS, () => Promise.resolve({ rows: 7 }), { connection });
    try {
      await queue.add('export', {});
      const [call] = await hook.received(1);
      expect(JSON.parse(call!.body.toString())).toMatchObject({ data: { queue: REPORTS, name: 'export' } });
    } finally {
      await worker.close(true);
      await queue.close();
    }
  });

  it('starts while no Sentinel responds, and delivers as soon as one does', async () => {
    const [, port] = /@127\.0\.0\.1:(\d+)/.exec(sentinels().url)!;
    const proxy = await startProxy(Number(port));
    await proxy.cut();
    const own = String(await freePort());
    const url = sentinels().url.replace(/@[^/]+/, `@127.0.0.1:${proxy.port}`);
    const starting = startService({ REDIS_URL: url, PORT: own });
    try {
      const isLive = async () => (await exchange(`http://127.0.0.1:${own}`, 'GET', '/health/live')).status === 200;
      await waitFor(isLive, { what: 'a service without a queue' });
      const { status, text } = await exchange(`http://127.0.0.1:${own}`, 'GET', '/health/ready');
      expect([status, text]).toEqual([503, expect.stringMatching(/"queue":"not well"/)]);
    } finally {
      await proxy.pass();
      const late = await starting;
      const hook = receiver.hook();
      await subscribe(late.api, hook, ['job.started']);
      await publish(late.api, 'job.started');
      await hook.received(1);
      expect(await late.stop()).toBe(0);
      await proxy.stop();
    }
  });

  it('accepts every event while the master is killed, and delivers them all', async () => {
    // The second webhook answers its first calls with 500, so that retries are on the queue when its master is lost.
    const FAILING = 150;
    const hooks = [receiver.hook(), receiver.hook(...Array<Answer>(FAILING).fill({ status: 500 }), { status: 200 })];
    const webhooks = await Promise.all(hooks.map((hook) => subscribe(service.api, hook, ['job.started'])));
    const accepted = new Set<string>();
    let isOver = false;
    const publishing = [1, 2, 3, 4].map(async () => {
      while (!isOver) accepted.add((await publish(service.api, 'job.started')).id);
    });
    await waitFor(() => accepted.size > FAILING, { what: 'a stream of events' });
    await sentinels().failOver();
    const isReady = async () => (await exchange(service.url, 'GET', '/health/ready')).status === 200;
    await waitFor(isReady, { what: 'a service that is ready again' });
    const sizeThen = accepted.size;
    await waitFor(() => accepted.size > sizeThen + FAILING, { what: 'events on the new master' });
    isOver = true;
    await Promise.all(publishing);
    for (const { id } of webhooks) {
      const arrived = async () => {
        const sql = `select distinct event_id as id from webhook_service.deliveries
                     where webhook_id = $1 and status = 'succeeded'`;
        return new Set((await service.database.query<{ id: string }>(sql, [id])).map((row) => row.id));
      };
      await waitFor(async () => (await arrived()).size >= accepted.size, { what: 'every event' });
      expect(await arrived()).toEqual(accepted);
    }
  });
});
