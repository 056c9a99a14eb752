import { Redis } from 'ioredis';
import { JobQueue } from '../../support/job-queue';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { startProxy, type TcpProxy } from '../../support/proxy';
import { type Service, startService } from '../../support/service';
import { describeOnStores, type Store } from '../../support/stores';
import { waitFor } from '../../support/wait-for';

const STARTED = `
  select body::json->'data'->>'name' as name, body::json->'data'->>'attempt' as attempt
  from webhook_service.events where name = 'job.started' order by id`;

/** The service's own queues are on PostgreSQL; the monitored one is in another schema there, or on a Redis beside it. */
describeOnStores('A monitored queue under another prefix', (store: Store) => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let queue: JobQueue;
  let service: Service;

  beforeAll(async () => {
    database = await cloneDatabase();
    const { REDIS_URL } = store.settings();
    proxy = await startProxy(Number(new URL(REDIS_URL ?? database.url).port));
    service = await startService(
      { MONITORED_QUEUES: 'crm:reports', MONITORED_QUEUES_REDIS_URL: REDIS_URL && throughProxy(REDIS_URL) },
      database,
    );
    await waitFor(() => service.logs().includes('crm:reports from 0'), { what: 'the monitor' });
    queue = openQueue();
  });
  afterAll(async () => {
    await queue.close();
    expect(await service.stop()).toBe(0);
    await proxy.stop();
    await database.drop();
  });

  function throughProxy(redisUrl: string): string {
    const url = new URL(redisUrl);
    url.port = String(proxy.port);
    return url.href;
  }

  function openQueue(name = 'reports', crm = 'crm'): JobQueue {
    const place = { redisUrl: store.settings().REDIS_URL, databaseUrl: database.url, prefix: crm, schema: crm };
    const opened = JobQueue.open(name, place);
    opened.start();
    return opened;
  }

  /** The jobs that were said to have begun, as soon as one of the given name is among them. */
  const startedUpTo = (name: string): Promise<string[]> =>
    waitFor(
      async () => {
        const names = (await database.query<{ name: string }>(STARTED)).map((row) => row.name);
        return names.includes(name) && names;
      },
      { what: `the begin of ${name}` },
    );

  it('is read from its first job on, although it did not exist before', async () => {
    await queue.add('first');
    expect(await startedUpTo('first')).toEqual(['first']);
  });

  it('is not mistaken for its neighbours', async () => {
    const neighbours = [openQueue('reports2'), openQueue('reports', 'bullmq')];
    for (const neighbour of neighbours) {
      await neighbour.add('not ours');
      const isDone = async () => (await neighbour.bull.getJobCountByTypes('completed')) === 1;
      await waitFor(isDone, { what: "the neighbour's job" });
      await neighbour.close();
    }
    await queue.add('ours');
    expect(await startedUpTo('ours')).toEqual(['first', 'ours']);
  });

  it('is read on when its store has forgotten everything', async () => {
    await queue.close();
    const { REDIS_URL } = store.settings();
    if (REDIS_URL) {
      const redis = new Redis(REDIS_URL);
      await redis.flushall();
      redis.disconnect();
    } else {
      await database.query('drop schema crm cascade');
    }
    queue = openQueue();
    await queue.add('reborn');
    expect(await startedUpTo('reborn')).toEqual(['first', 'ours', 'reborn']);
    await waitFor(() => /Events of \S+ crm:reports are lost/.test(service.logs()), { what: 'the line about it' });
  });

  if (store.name === 'Redis') {
    it('is read on after an outage of its Redis, which is logged once', async () => {
      await proxy.cut();
      await waitFor(() => service.logs().includes('crm:reports fails'), { what: 'a line in the log' });
      await queue.add('meanwhile');
      expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
      await proxy.pass();
      expect(await startedUpTo('meanwhile')).toEqual(['first', 'ours', 'reborn', 'meanwhile']);
      await waitFor(() => service.logs().includes('crm:reports works again'), { what: 'another line' });
      expect(service.logs().match(/crm:reports fails/g)).toHaveLength(1);
    });
  }
});
