import { dataOf } from '../support/api';
import { type Stage, useStage } from './stage/chaos-stage';
import { waitFor } from '../support/wait-for';
import { isSettled } from './stage/fault-steps';
import { describeOnStoreNames } from './stage/store-names';

const SUBSCRIBERS = 1000;
const AT_ONCE = 50;

/** Where the fan-out is held up, so that it is surely killed there: whoever wants to write to the table waits. */
const MOMENTS = [
  { moment: 'while it claims the event', table: 'webhook_service.events', statement: '%set claimed = true%' },
  { moment: 'while it inserts its rows', table: 'webhook_service.deliveries', statement: '%completes_event boolean%' },
];

const IS_HELD_UP = `select from pg_stat_activity where wait_event_type = 'Lock' and query like $1`;

describeOnStoreNames(`A fan-out to ${SUBSCRIBERS} subscribers`, (store) => {
  const stage = useStage(
    () => ({ store, workers: 1, settings: { MAX_WEBHOOKS_PER_USER: '2000' } }),
    ({ ledger, client }) => {
      const { url, secret } = ledger.address('everybody');
      return inBatches(SUBSCRIBERS, () => dataOf(client.createWebhook({ url, secret, events: ['*'] }), 201));
    },
  );

  it.each(MOMENTS)('that is killed $moment makes one delivery for each', async ({ table, statement }) => {
    const { ledger } = stage();
    const eventId = await publishedAndKilledAt(stage(), table, statement);
    expect(await isSettled(stage())).toBe(true);
    expect(await countDeliveries(stage(), eventId)).toEqual({ rows: SUBSCRIBERS, webhooks: SUBSCRIBERS });
    const received = ledger.entries.filter((entry) => entry.eventId === eventId);
    expect(new Set(received.map(({ deliveryId }) => deliveryId)).size).toBe(SUBSCRIBERS);
  });
});

async function publishedAndKilledAt(stage: Stage, table: string, statement: string): Promise<string> {
  const worker = stage.workers[0]!;
  await worker.end();
  const [event] = await stage.load.burst(1);
  const unlock = await stage.postgres.lock(table, 'share row exclusive');
  try {
    await worker.start();
    const isHeldUp = async () => (await stage.postgres.query(IS_HELD_UP, [statement])).length > 0;
    await waitFor(isHeldUp, { what: 'a fan-out that is held up' });
    await worker.kill();
    // PostgreSQL would finish the statements of a client that is gone.
    await stage.postgres.query(`select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock'`);
  } finally {
    await unlock();
  }
  await worker.start();
  return event!.id;
}

async function countDeliveries({ postgres }: Stage, eventId: string): Promise<unknown> {
  const [counts] = await postgres.query(
    `select count(*)::int as rows, count(distinct webhook_id)::int as webhooks
     from webhook_service.deliveries where event_id = $1 and attempt = 1`,
    [eventId],
  );
  return counts;
}

async function inBatches(count: number, work: () => Promise<unknown>): Promise<void> {
  for (let done = 0; done < count; done += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, work));
}
