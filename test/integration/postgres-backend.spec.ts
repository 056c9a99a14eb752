import { Queue, setDefaultBackendFactory, Worker } from 'bullmq';
import { createMendedPostgresBackend } from '../../src/queue/postgres-backend.client';
import { cloneDatabase, type TestDatabase } from '../support/postgres';
import { startProxy } from '../support/proxy';
import { waitFor } from '../support/wait-for';

describe('A queue and a worker on PostgreSQL', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await cloneDatabase();
    setDefaultBackendFactory(createMendedPostgresBackend);
  });
  afterAll(async () => {
    setDefaultBackendFactory(undefined);
    await database.drop();
  });

  it('that were made while PostgreSQL was away work when it is there', async () => {
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
      await waitFor(() => queue.add('in time', {}), { what: 'a queue that takes jobs' });
      await waitFor(() => done.includes('in time'), { what: 'the job' });
    } finally {
      await worker.close(true);
      await queue.close();
      await proxy.stop();
    }
  });
});
