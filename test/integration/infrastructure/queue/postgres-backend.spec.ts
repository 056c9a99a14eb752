import { type Job, Queue, setDefaultBackendFactory, Worker } from 'bullmq';
import { mendedPostgresBackend } from '../../../../src/infrastructure/queue/postgres-backend.client';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { startProxy } from '../../../support/proxy';
import { waitFor } from '../../../support/wait-for';

describe('A queue and a worker on PostgreSQL', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await cloneDatabase();
    setDefaultBackendFactory(mendedPostgresBackend({ offsetMs: () => 0 }));
  });
  afterAll(async () => {
    setDefaultBackendFactory(undefined);
    await database.drop();
  });

  it('that were created while PostgreSQL was unavailable work when it is available', async () => {
    const url = new URL(database.url);
    const proxy = await startProxy(Number(url.port));
    await proxy.cut();
    url.port = String(proxy.port);
    const options = {
      connection: { connectionString: url.href, schema: 'some_queue', max: 2, migrate: true } as never,
    };
    const done: string[] = [];
    const queue = new Queue('work', options);
    queue.on('error', () => undefined);
    const worker = new Worker('work', async (job) => void done.push(job.name), { ...options, runRetryDelay: 100 });
    worker.on('error', () => undefined);
    try {
      await expect(queue.add('too early', {})).rejects.toThrow();
      await proxy.pass();
      await waitFor(() => queue.add('in time', {}), { what: 'a queue that accepts jobs' });
      await waitFor(() => done.includes('in time'), { what: 'the job' });
    } finally {
      await worker.close(true);
      await queue.close();
      await proxy.stop();
    }
  });

  it('use the clock of PostgreSQL for locks and delayed jobs', async () => {
    const HOUR_MS = 3_600_000;
    // On a machine whose clock is an hour behind PostgreSQL's, written times must be an hour ahead of its own.
    setDefaultBackendFactory(mendedPostgresBackend({ offsetMs: () => HOUR_MS }));
    const connection = { connectionString: database.url, schema: 'clock_queue', max: 2, migrate: true } as never;
    const queue = new Queue('work', { connection });
    let finish: () => void = () => undefined;
    const begun: string[] = [];
    const done: string[] = [];
    const process = ({ name }: Job) => {
      begun.push(name);
      return new Promise<void>((resolve) => (finish = resolve));
    };
    const worker = new Worker('work', process, { connection, lockDuration: 10_000 });
    worker.on('completed', ({ name }) => done.push(name));
    try {
      await queue.add('now', {});
      const lockedForMs = async () => {
        const [job] = await database.query<{ until: string }>(
          `select locked_until_ms as until from clock_queue.job where state = 'active'`,
        );
        return job && Number(job.until) - Date.now();
      };
      const lockMs = await waitFor(lockedForMs, { what: 'a locked job' });
      expect(lockMs).toBeGreaterThan(HOUR_MS);
      expect(lockMs).toBeLessThanOrEqual(HOUR_MS + 10_000);
      // The job is locked before its worker begins it.
      await waitFor(() => begun.includes('now'), { what: 'the begin of the first job' });
      finish();
      const addedAt = Date.now();
      await queue.add('later', {}, { delay: 500 });
      await waitFor(() => done.includes('now'), { what: 'the first job' });
      await waitFor(() => begun.includes('later'), { what: 'the delayed job' });
      expect(Date.now() - addedAt).toBeGreaterThanOrEqual(490);
      finish();
      await waitFor(() => done.includes('later'), { what: 'the delayed job' });
    } finally {
      finish();
      await worker.close(true);
      await queue.close();
    }
  });

  it('poll for jobs while they wait for a delayed one and get no notifications', async () => {
    setDefaultBackendFactory(mendedPostgresBackend({ offsetMs: () => 0 }));
    const connection = { connectionString: database.url, schema: 'deaf_queue', max: 2, migrate: true } as never;
    const queue = new Queue('work', { connection });
    const done: string[] = [];
    const worker = new Worker('work', async ({ name }) => void done.push(name), { connection, drainDelay: 1 });
    worker.on('error', () => undefined);
    const killListeners = () =>
      database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and query ~* '^(--.*\n)*listen '`,
      );
    try {
      await queue.add('in an hour', {}, { delay: 3_600_000 });
      await queue.add('now', {});
      await waitFor(() => done.includes('now'), { what: 'the first job' });
      // The last query of a worker before it waits; it has to repeat it now that it knows of the job in an hour.
      const [{ now }] = (await database.query<{ now: Date }>('select clock_timestamp() as now')) as [{ now: Date }];
      const waits = () =>
        database.query(
          `select from pg_stat_activity
           where datname = current_database() and query ~ 'AS next_delay' and query_start > $1 and pid <> pg_backend_pid()`,
          [now],
        );
      await waitFor(async () => (await waits()).length > 0, { what: 'a worker that polls again' });
      await waitFor(async () => (await killListeners()).length > 0, { what: 'a worker that listens' });
      await queue.add('unheard', {});
      await waitFor(() => done.includes('unheard'), { what: 'the job without a notification' });
    } finally {
      await worker.close(true);
      await queue.close();
    }
  });
});
