import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { JobQueue, type Task } from '../../support/job-queue';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { type Service, type Settings, startService } from '../../support/service';
import { describeOnStores, type Store } from '../../support/stores';
import { waitFor } from '../../support/wait-for';

const EVENTS = `
  select name, coalesce(data->>'jobId', data->>'operationId') as "jobId", count(*)::int as times
  from (select name, body::json->'data' as data from webhook_service.events) e group by 1, 2`;

interface Told {
  name: string;
  jobId: string;
  times: number;
}

/** Each event of these jobs by its job, as `name times`, sorted. */
async function toldOf(database: TestDatabase, jobIds: readonly string[]): Promise<Map<string, string[]>> {
  const rows = await database.query<Told & Record<string, unknown>>(EVENTS);
  return new Map(
    jobIds.map((id) => [
      id,
      rows.flatMap(({ name, jobId, times }) => (jobId === id ? [`${name} ${times}`] : [])).sort(),
    ]),
  );
}

// Processes are started and killed, and after a kill others wait some seconds before they read on.

const SUCCEEDS = ['job.completed 1', 'job.started 1', 'operation.complete 1'];
const FAILS_ONCE = ['job.completed 1', 'job.started 2', 'operation.complete 1'];
const FAILS = ['job.started 2', 'operation.failed 1'];
const KINDS: [Task, string[]][] = [
  [{ result: { fine: true } }, SUCCEEDS],
  [{ fails: 'once' }, FAILS_ONCE],
  [{ fails: 'always' }, FAILS],
];

describeOnStores('A monitored queue', (store: Store) => {
  let database: TestDatabase;
  let settings: Settings;
  let queue: JobQueue;
  const services: Service[] = [];

  beforeEach(async () => {
    database = await cloneDatabase();
    const name = `reports-${randomBytes(3).toString('hex')}`;
    settings = { ...store.settings(), MONITORED_QUEUES: name, AUTOMATION_QUEUES: name };
    queue = JobQueue.open(name, place());
  });
  afterEach(async () => {
    await queue.close();
    for (const service of services.splice(0)) await service.stop('SIGKILL');
    await database.drop();
  });

  const place = () => ({ redisUrl: store.settings().REDIS_URL, databaseUrl: database.url });

  async function serve(more: Settings = {}): Promise<Service> {
    const service = await startService({ ...settings, ...more }, database);
    services.push(service);
    return service;
  }

  const reads = (service: Service): boolean => service.logs().includes('Reading ');

  /** Adds one job of each kind, so often, and answers what must be told of each. */
  async function addJobs(rounds: number, options = {}): Promise<Map<string, string[]>> {
    const expected = new Map<string, string[]>();
    for (let i = 0; i < rounds; i++) {
      for (const [task, told] of KINDS) {
        const id = await queue.add('work', task, { attempts: 2, backoff: 20, delay: (i % 3) * 50, ...options });
        expected.set(id, told);
      }
    }
    return expected;
  }

  async function expectTold(expected: Map<string, string[]>): Promise<void> {
    const ids = [...expected.keys()];
    const ended = async () => {
      const told = await toldOf(database, ids);
      const isEnded = (events: string[]) => events.some((event) => /^(job.completed|operation.failed)/.test(event));
      return [...told.values()].every(isEnded);
    };
    await waitFor(ended, { what: 'the end of all jobs', everyMs: 100 });
    expect(await toldOf(database, ids)).toEqual(expected);
  }

  it('is published once by two replicas, one of which is killed in the middle', async () => {
    const replicas = [await serve(), await serve()];
    const reader = await waitFor(() => replicas.find(reads), { what: 'a reader' });
    const expected = await addJobs(30);
    queue.start();
    const isUnderWay = async () => (await database.query(`${EVENTS} limit 20`)).length === 20;
    await waitFor(isUnderWay, { what: 'the first events', everyMs: 5 });
    await reader.kill();
    for (const [id, told] of await addJobs(10)) expected.set(id, told);
    await expectTold(expected);
    await waitFor(() => replicas.every(reads), { what: 'the line of the other reader' });
  });

  it('is read on from where a stopped service ended', async () => {
    const first = await serve();
    await waitFor(() => reads(first), { what: 'the reader' });
    queue.start();
    const before = await addJobs(2);
    await expectTold(before);
    expect(await first.stop()).toBe(0);
    const meanwhile = await addJobs(1, { removeOnComplete: true, removeOnFail: true });
    await waitFor(async () => (await queue.bull.getJobCountByTypes('waiting', 'active', 'delayed')) === 0, {
      what: 'the jobs',
    });
    await serve();
    await expectTold(new Map([...before, ...meanwhile]));
  });

  it('is remembered with its users over a restart, although the job is gone', async () => {
    const told = (name: string) =>
      database.query<{ userId: string; type: string; attempts: string }>(
        `select user_id as "userId", d->>'name' as type, coalesce(d->>'attempt', d->>'attempts') as attempts
         from (select name, user_id, body::json->'data' as d from webhook_service.events) e where name = $1`,
        [name],
      );
    const first = await serve();
    await waitFor(() => reads(first), { what: 'the reader' });
    let open = (): void => undefined;
    queue.gates.set('gate', new Promise((resolve) => (open = resolve)));
    queue.start();
    await queue.add('private', { waits: 'gate', userId: 'alice' }, { removeOnComplete: true });
    await waitFor(async () => (await told('job.started')).length === 1, { what: 'the begin' });
    await first.stop('SIGKILL');
    open();
    await waitFor(async () => (await queue.bull.getJobCountByTypes('active')) === 0, { what: 'the end of the job' });
    await serve();
    const isTold = async () => (await told('job.completed')).length === 1;
    await waitFor(isTold, { what: 'its event' });
    expect(await told('job.completed')).toEqual([{ userId: 'alice', type: 'private', attempts: '1' }]);
  });

  it('publishes no events from before it was monitored', async () => {
    queue.start();
    await addJobs(1);
    await waitFor(async () => (await queue.bull.getJobCountByTypes('waiting', 'active', 'delayed')) === 0, {
      what: 'the jobs',
    });
    const service = await serve();
    await waitFor(() => reads(service), { what: 'the reader' });
    await expectTold(await addJobs(1));
    expect(await database.query(EVENTS)).toHaveLength(SUCCEEDS.length + FAILS_ONCE.length + FAILS.length);
  });

  if (store.name === 'Redis') {
    it('leaves out a job whose key is no job, names it in the log, and is read on', async () => {
      const service = await serve();
      await waitFor(() => reads(service), { what: 'the reader' });
      queue.start();
      const redis = new Redis(store.settings().REDIS_URL!);
      const key = `bull:${settings.MONITORED_QUEUES}`;
      try {
        await redis.set(`${key}:777`, 'x');
        // The stream of the queue itself is no job, either.
        for (const jobId of ['777', 'events'])
          await redis.xadd(`${key}:events`, '*', 'event', 'completed', 'jobId', jobId);
        // A count of attempts that no database stores.
        for (const [i, attempts] of ['many', '4000000000', '-1'].entries()) {
          await redis.hset(`${key}:odd-${i}`, { name: 'odd', data: '{}', ats: attempts });
          await redis.xadd(`${key}:events`, '*', 'event', 'active', 'jobId', `odd-${i}`);
        }
        await expectTold(await addJobs(2));
        const told = await toldOf(database, ['777', 'events', 'odd-0', 'odd-1', 'odd-2']);
        expect([...told.values()]).toEqual([[], [], ...Array(3).fill(['job.started 1'])]);
        for (const jobId of ['777', 'events']) {
          const lines = service.logs().match(new RegExp(`Job ${jobId} of redis bull:\\S+ cannot be read`, 'g'));
          expect(lines).toHaveLength(1);
        }
      } finally {
        redis.disconnect();
      }
    });
  }

  it('says so when its stream was trimmed before it was read, and goes on', async () => {
    await queue.close();
    queue = JobQueue.open(String(settings.MONITORED_QUEUES), { ...place(), maxEvents: 60 });
    const first = await serve();
    await waitFor(() => reads(first), { what: 'the reader' });
    queue.start();
    await expectTold(await addJobs(1));
    expect(first.logs()).not.toContain('are lost');
    expect(await first.stop()).toBe(0);
    const lost = await addJobs(60);
    await waitFor(async () => (await queue.bull.getJobCountByTypes('waiting', 'active', 'delayed')) === 0, {
      what: 'the jobs',
    });
    const second = await serve();
    await expectTold(await addJobs(1));
    const losses = () => second.logs().match(/Events of \S+ \S+ are lost/g) ?? [];
    await waitFor(() => losses().length >= 1, { what: 'the line about the loss' });
    expect(losses()).toHaveLength(1);
    const told = await toldOf(database, [...lost.keys()]);
    expect([...told.values()].some((events) => events.length === 0)).toBe(true);
  });
});
