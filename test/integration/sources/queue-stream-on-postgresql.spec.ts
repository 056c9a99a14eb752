import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../../src/infrastructure/database/data-source.setup';
import { PostgresQueueClient } from '../../../src/sources/job-queues/postgres-queue.client';
import type { Cursor } from '../../../src/sources/job-queues/queue-stream';
import { JobQueue } from '../../support/job-queue';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';

describe("A queue's stream on PostgreSQL", () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let queue: JobQueue;

  beforeAll(async () => {
    database = await cloneDatabase();
    dataSource = await new DataSource(dataSourceOptions(database.url, 2)).initialize();
    queue = JobQueue.open('reports', { databaseUrl: database.url });
    await queue.bull.waitUntilReady();
  });
  afterAll(async () => {
    await queue.close();
    await dataSource.destroy();
    await database.drop();
  });

  const publish = `select bullmq.publish_event($1, 'active', jsonb_build_object('jobId', $2::text))`;
  const happen = (jobId: string, name = 'reports') => database.query(publish, [name, jobId]);

  /** Reads like the monitor does, and keeps the ids of the jobs. */
  function openStream(name = 'reports') {
    const stream = new PostgresQueueClient(dataSource, { prefix: null, name });
    const jobs: string[] = [];
    const losses: string[] = [];
    let cursor: Cursor;
    return {
      jobs,
      losses,
      position: () => Number(cursor.position),
      begin: async () => (cursor = await stream.end()),
      read: async (): Promise<void> => {
        const page = await stream.read(cursor);
        cursor = page.next;
        jobs.push(...page.events.map(({ jobId }) => jobId));
        if (page.loss) losses.push(page.loss);
      },
    };
  }

  it('is read completely and once, although entries are numbered before they are committed', async () => {
    const stream = openStream();
    await stream.begin();
    const slow = new Client({ connectionString: database.url });
    await slow.connect();
    try {
      await slow.query('begin');
      await slow.query(publish, ['reports', 'numbered first']);
      await happen('numbered second');
      await stream.read();
      expect(stream.jobs).toEqual(['numbered second']);
      await slow.query('commit');
    } finally {
      await slow.end();
    }
    await stream.read();
    expect(stream.jobs).toEqual(['numbered second', 'numbered first']);
    const settles = async () => {
      await stream.read();
      return stream.position() > 1;
    };
    await waitFor(settles, { what: 'a later position', everyMs: 200 });
    await happen('third');
    await stream.read();
    expect(stream.jobs).toEqual(['numbered second', 'numbered first', 'third']);
  });

  it('loses nothing when other queues advance the sequence and push its entries out', async () => {
    const stream = openStream();
    await stream.begin();
    await happen('before');
    await stream.read();
    await database.query(`select setval('bullmq.event_seq', nextval('bullmq.event_seq') + 30000)`);
    await stream.read();
    await database.query(`delete from bullmq.event where queue = 'reports'`);
    await happen('after');
    await stream.read();
    expect([stream.jobs, stream.losses]).toEqual([['before', 'after'], []]);
  });

  it('reports lost entries once', async () => {
    const stream = openStream();
    await stream.begin();
    await happen('lost');
    await database.query(`select setval('bullmq.event_seq', nextval('bullmq.event_seq') + 30000)`);
    await database.query(`delete from bullmq.event where queue = 'reports'`);
    await happen('found');
    for (let i = 0; i < 3; i++) await stream.read();
    expect(stream.jobs).toEqual(['found']);
    expect(stream.losses).toEqual([expect.stringMatching(/^entries before number \d+ were trimmed/)]);
  });

  it('is read page by page', async () => {
    const stream = openStream('many');
    await stream.begin();
    await database.query(
      `select count(bullmq.publish_event('many', 'active', jsonb_build_object('jobId', n::text)))
       from generate_series(1, 1200) n`,
    );
    for (let i = 0; i < 8; i++) await stream.read();
    expect(stream.jobs).toEqual(Array.from({ length: 1200 }, (_, n) => String(n + 1)));
  });

  it('of a missing schema is empty', async () => {
    const stream = new PostgresQueueClient(dataSource, { prefix: 'nowhere', name: 'reports' });
    const cursor = await stream.end();
    expect(await stream.read(cursor)).toEqual({ events: [], next: cursor, loss: null });
    expect(await stream.facts(['1'])).toEqual(new Map());
  });
});
