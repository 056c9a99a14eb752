import { randomBytes } from 'node:crypto';
import { JobQueue, type Task } from '../../support/job-queue';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { describeOnStores, type Store } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { subscribe } from '../stage/steps';

interface Row {
  name: string;
  userId: string | null;
  data: Record<string, unknown>;
}

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const DURATION = expect.any(Number);

describeOnStores('The jobs of a monitored queue', (store: Store) => {
  const service = useService(() => ({
    ...store.settings(),
    MONITORED_QUEUES: 'reports,mail',
    AUTOMATION_QUEUES: 'reports',
    EVENT_MAX_BYTES: '2048',
  }));
  const receiver = useReceiver();
  let reports: JobQueue;
  let mail: JobQueue;

  beforeAll(async () => {
    const place = { redisUrl: store.settings().REDIS_URL, databaseUrl: service.database.url };
    await waitFor(() => ['mail', 'reports'].every((name) => service.logs().includes(`:${name} from `)), {
      what: 'the monitor',
    });
    [reports, mail] = [JobQueue.open('reports', place), JobQueue.open('mail', place)];
    reports.start();
    mail.start();
  });
  afterAll(() => Promise.all([reports.close(), mail.close()]));

  /** The events of a job so far, in the order of their publication. */
  async function eventsOf(jobId: string): Promise<Row[]> {
    return service.database.query<{ name: string; userId: string | null; data: Record<string, unknown> } & Row>(
      `select name, user_id as "userId", body::json->'data' as data from webhook_service.events
       where coalesce(body::json->'data'->>'jobId', body::json->'data'->>'operationId') = $1 order by id`,
      [jobId],
    );
  }

  async function run(name: string, task: Task, options = {}, queue = reports): Promise<{ id: string; rows: Row[] }> {
    const id = await queue.add(name, task, { jobId: `job-${randomBytes(4).toString('hex')}`, ...options });
    const rows = await waitFor(
      async () => {
        const found = await eventsOf(id);
        return found.some((row) => ['job.completed', 'operation.failed'].includes(row.name)) && found;
      },
      { what: `the end of job ${id}` },
    );
    return { id, rows };
  }

  const namesOf = (rows: Row[]) => rows.map(({ name }) => name);

  it('are started and completed, and as operations complete', async () => {
    const { id, rows } = await run('export', { result: { rows: 1280 } });
    const times = { startedAt: TIME, durationMs: DURATION };
    expect(rows).toEqual([
      {
        name: 'job.started',
        userId: null,
        data: { jobId: id, queue: 'reports', name: 'export', attempt: 1, startedAt: TIME },
      },
      {
        name: 'job.completed',
        userId: null,
        data: {
          jobId: id,
          queue: 'reports',
          name: 'export',
          attempts: 1,
          ...times,
          completedAt: TIME,
          result: { rows: 1280 },
        },
      },
      {
        name: 'operation.complete',
        userId: null,
        data: { operationId: id, type: 'export', ...times, finishedAt: TIME, result: { rows: 1280 } },
      },
    ]);
    const [started, completed] = rows.map(({ data }) => data) as Record<string, string>[];
    expect(started?.startedAt).toBe(completed?.startedAt);
    expect(Date.parse(completed!.completedAt!) - Date.parse(completed!.startedAt!)).toBe(completed!.durationMs);
  });

  it('reach a webhook', async () => {
    const hook = receiver.hook();
    await subscribe(service.api, hook, ['operation.*']);
    const { id } = await run('to-the-webhook', { result: 'done' });
    const [call] = await hook.received(1);
    expect(call?.headers['x-service-event']).toBe('operation.complete');
    expect(JSON.parse(String(call?.body))).toMatchObject({ data: { operationId: id, result: 'done' } });
  });

  it('that fail once and then succeed begin twice', async () => {
    const { rows } = await run('flaky', { fails: 'once', result: 1 }, { attempts: 3, backoff: 50 });
    expect(namesOf(rows)).toEqual(['job.started', 'job.started', 'job.completed', 'operation.complete']);
    expect(rows.map(({ data }) => data.attempt ?? data.attempts)).toEqual([1, 2, 2, undefined]);
  });

  it('that fail for good publish it once, after the last attempt', async () => {
    const { id, rows } = await run('broken', { fails: 'always', message: 'offline' }, { attempts: 3 });
    expect(namesOf(rows)).toEqual(['job.started', 'job.started', 'job.started', 'operation.failed']);
    expect(rows.map(({ data }) => data.attempt)).toEqual([1, 2, 3, undefined]);
    expect(rows[3]?.data).toEqual({
      operationId: id,
      type: 'broken',
      startedAt: TIME,
      finishedAt: TIME,
      durationMs: DURATION,
      attempts: 3,
      error: { name: 'TypeError', message: 'offline' },
    });
  });

  it('that must not be repeated have failed for good at once', async () => {
    const { rows } = await run('hopeless', { fails: 'for good' }, { attempts: 3 });
    expect(namesOf(rows)).toEqual(['job.started', 'operation.failed']);
    expect(rows[1]?.data).toMatchObject({ attempts: 1, error: { name: 'UnrecoverableError' } });
  });

  it('that are tried again by hand after that go on counting', async () => {
    const { id } = await run('again', { fails: 'always' });
    const job = await reports.bull.getJob(id);
    await job?.updateData({ result: 'well' });
    await job?.retry('failed');
    const rows = await waitFor(
      async () => {
        const found = await eventsOf(id);
        return found.length === 5 && found;
      },
      { what: 'the second life' },
    );
    expect(namesOf(rows)).toEqual([
      'job.started',
      'operation.failed',
      'job.started',
      'job.completed',
      'operation.complete',
    ]);
    expect(rows[3]?.data).toMatchObject({ attempts: 2, result: 'well' });
  });

  it('that are delayed begin when they begin', async () => {
    const addedAt = Date.now();
    const { rows } = await run('later', {}, { delay: 700 });
    expect(namesOf(rows)).toEqual(['job.started', 'job.completed', 'operation.complete']);
    expect(Date.parse(String(rows[0]?.data.startedAt))).toBeGreaterThanOrEqual(addedAt + 600);
  });

  it('that are removed when they end publish their events too', async () => {
    const options = { removeOnComplete: true, removeOnFail: true };
    /** It ends, and is gone, when its begin has been told: until then it was there to be looked at. */
    const runWatched = async (task: Task) => {
      const jobId = `job-${randomBytes(4).toString('hex')}`;
      let open = (): void => undefined;
      reports.gates.set(jobId, new Promise((resolve) => (open = resolve)));
      const ending = run('fleeting', { ...task, waits: jobId }, { ...options, jobId });
      await waitFor(async () => (await eventsOf(jobId)).length === 1, { what: 'its begin' }).finally(() => open());
      return ending;
    };
    const good = await runWatched({ result: [1, 'two'], userId: 'alice' });
    expect(good.rows.map(({ userId }) => userId)).toEqual(['alice', 'alice', 'alice']);
    expect(good.rows[1]?.data).toMatchObject({ name: 'fleeting', attempts: 1, result: [1, 'two'] });
    const bad = await runWatched({ fails: 'always', message: 'gone' });
    expect(bad.rows[1]?.data).toMatchObject({ type: 'fleeting', attempts: 1, error: { message: 'gone' } });
  });

  it('belong to the user that they name', async () => {
    for (const [userId, expected] of [
      ['bob@example.com', 'bob@example.com'],
      [42, '42'],
      [null, null],
    ]) {
      const { rows } = await run('whose', { userId });
      expect(rows.map((row) => row.userId)).toEqual([expected, expected, expected]);
    }
  });

  it('with an invalid user id publish no events', async () => {
    const id = await reports.add('whose', { userId: 'no user' }, { jobId: 'nobodys' });
    await run('after', {});
    expect(await eventsOf(id)).toEqual([]);
    const line = /Job nobodys of \S+ \S+:reports has an invalid data\.userId; .* not published/;
    await waitFor(() => line.test(service.logs()), { what: 'the line about it' });
  });

  it.each([[0], [false], ['text'], [null], [[]], [{ deep: { er: 1.5 } }]])('may return %j', async (result) => {
    const { rows } = await run('returns', { result });
    expect(rows.slice(1).map(({ data }) => data.result)).toEqual([result, result]);
  });

  it('that return nothing have the result null', async () => {
    const { rows } = await run('returns', {});
    expect(rows.slice(1).map(({ data }) => data)).toMatchObject([{ result: null }, { result: null }]);
    expect(rows[1]?.data).not.toHaveProperty('resultOmitted');
  });

  it('that return more than an event holds leave it out', async () => {
    const { rows } = await run('returns', { result: 'x'.repeat(3000) });
    expect(rows.slice(1).map(({ data }) => data)).toMatchObject([
      { result: null, resultOmitted: true },
      { result: null, resultOmitted: true },
    ]);
  });

  it('are no operations in a queue that is none of AUTOMATION_QUEUES', async () => {
    const good = await run('letter', {}, {}, mail);
    expect(namesOf(good.rows)).toEqual(['job.started', 'job.completed']);
    const id = await mail.add('letter', { fails: 'always' });
    await waitFor(async () => (await mail.bull.getJobState(id)) === 'failed', { what: 'the failure' });
    // What comes after it in the stream is published after it.
    await run('letter', {}, {}, mail);
    expect(namesOf(await eventsOf(id))).toEqual(['job.started']);
  });
});
