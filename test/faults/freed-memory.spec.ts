import { Client } from 'pg';
import { dataOf } from '../support/api';
import { databaseUrl } from '../support/postgres';
import { startPostgres } from '../support/postgres-server';
import { useReceiver } from '../support/receiver';
import { waitFor } from '../support/wait-for';
import { EXAMPLES } from '../e2e/stage/examples';
import { useFleet } from '../e2e/stage/fleet';
import { subscribe } from '../e2e/stage/steps';

/**
 * The C library returns freed memory to the system, and overwrites what it keeps. PostgreSQL 18 up to 18.4 reads memory that
 * it has freed when a statement selects partitions after its first lock, and then crashes; see `isAmong` in
 * src/deliveries/found-by-id.ts. Without these settings the crash is rare.
 */
const OVERWRITE = { MALLOC_PERTURB_: '165', MALLOC_MMAP_THRESHOLD_: '8192', MALLOC_TRIM_THRESHOLD_: '0' };

const EVENTS = 400;
const job = { event: 'job.started', data: EXAMPLES['job.started'] };

let stop: () => Promise<void>;
beforeAll(async () => (stop = await startPostgres(false, OVERWRITE)));
afterAll(() => stop());

describe('A PostgreSQL that overwrites freed memory', () => {
  const fleet = useFleet({ apis: 1, workers: 3 }, () => ({
    WEBHOOK_CONCURRENCY: '5',
    RETRY_BASE_DELAY_MS: '50',
    RETRY_FACTOR: '1',
    DISABLE_AFTER_FAILURES: '1000',
  }));
  const receiver = useReceiver();

  it('does not crash while three workers compete for the same rows', async () => {
    const api = fleet().through(fleet().apis[0]!);
    const crashes: string[] = [];
    // A crash ends all connections.
    const idle = new Client(databaseUrl('postgres'));
    idle.on('error', ({ message }) => crashes.push(message));
    await idle.connect();
    const hooks = [receiver.hook(), receiver.hook({ status: 500 }), receiver.hook({ status: 503 })];
    for (const hook of hooks) await subscribe(api, hook, ['job.started']);
    const paced = await subscribe(api, receiver.hook(), ['job.started'], { maxPerSecond: 200 });
    const changed = await subscribe(api, receiver.hook({ status: 500 }), ['job.started']);
    const since = new Date().toISOString();
    for (let i = 0; i < EVENTS; i += 100)
      await dataOf(api.publishBatch({ events: Array.from({ length: 100 }, () => job) }), 202);
    let round = 0;
    const isOver = async () => {
      if (crashes.length > 0) return true;
      round += 1;
      // Cancellations, recoveries, and other rates.
      await dataOf(api.updateWebhook(changed.id, { active: round % 2 === 0 }));
      await dataOf(api.updateWebhook(paced.id, { maxPerSecond: round % 3 === 0 ? null : 200 }));
      if (round % 2 === 0) await dataOf(api.recover(changed.id, { since }), 202);
      const [row] = await fleet().database.query<{ count: number }>(
        `select count(*)::int as count from webhook_service.deliveries where status = 'pending' and webhook_id <> $1`,
        [changed.id],
      );
      return row!.count === 0 && hooks.every(({ calls }) => calls.length >= EVENTS);
    };
    await waitFor(isOver, { what: 'the end of all deliveries', everyMs: 200 });
    await idle.end();
    expect(crashes).toEqual([]);
  });
});
