import { Queue } from 'bullmq';
import { faultLasts } from '../support/chronicle';
import type { Accepted } from './stage/chaos-load';
import { type Stage, useStage } from './stage/chaos-stage';
import { waitFor } from '../support/wait-for';
import { isLong } from './stage/form';
import { print } from './stage/report';
import { expectedPairs, isSettled, NOTHING_AMISS, verdictOn } from './stage/fault-steps';
import { describeOnRedisAlone } from './stage/store-names';

const SECONDS = isLong ? [1, 7, 30, 120] : [1];
/** Ten times what docs/promises.md promises of deliveries that are due. */
const FIRST_WITHIN_MS = 150_000;

describeOnRedisAlone('A Redis that is killed and comes back empty', () => {
  const stage = useStage(
    // Two jobs at a time, so that others wait; retries late enough to be delayed jobs still, however long the rest takes.
    () => ({ store: 'Redis', settings: { DELIVERY_CONCURRENCY: '2', RETRY_BASE_DELAY_MS: '20000' } }),
    async (stage) => {
      await stage.subscribe('everything', ['*']);
      await stage.subscribe('everything-again', ['*']);
      await stage.subscribe('fails-first', ['job.*'], { failsUntil: 1 });
    },
  );

  it.each(SECONDS)(
    'after %d s has forgotten nothing that was waiting, delayed or active',
    async (seconds) => {
      const accepted = await withWaitingDelayedAndActiveJobs(stage());
      await stage().redis!.kill();
      stage().ledger.answerAll();
      await faultLasts(seconds * 1000);
      await stage().redis!.comeBack('empty');
      const backAt = Date.now();

      const { receivedAt } = await waitFor(() => stage().ledger.firstAfter(backAt), {
        what: 'the first delivery',
        // eslint-disable-next-line no-restricted-syntax -- a promise
        timeoutMs: FIRST_WITHIN_MS,
      });
      const allMs = await untilReceived(stage(), accepted, backAt);
      print(`Redis empty after ${seconds} s: first delivery after ${receivedAt - backAt} ms, all after ${allMs} ms`);
      expect(await isSettled(stage())).toBe(true);
      expect((await verdictOn(stage())).verdict).toMatchObject({ ...NOTHING_AMISS, unscripted: [] });
    },
    600_000,
  );
});

/** Publishes no more than 500 deliveries' worth, and stops when Redis holds jobs in every state: the jobs of retries. */
async function withWaitingDelayedAndActiveJobs({ load, ledger, redis, postgres }: Stage): Promise<Accepted[]> {
  const jobs = async (command: string, state: string) =>
    Number(await redis!.command(command, `bull:{send-0}:${state}`));
  const accepted = await load.burst(80);
  await waitFor(async () => (await jobs('ZCARD', 'delayed')) >= 40, { what: 'delayed jobs' });
  ledger.hold();
  const queue = new Queue('{send-0}', { connection: { url: redis!.urlThrough(redis!.port) } });
  try {
    const early = (await queue.getDelayed(0, 29)).map((job) => job.id!);
    // Due now, by their rows as well as by their jobs.
    await postgres.query(
      'update webhook_service.deliveries set scheduled_at = now(), leased_until = now() where id = any($1::uuid[])',
      [early],
    );
    await Promise.all(early.map(async (id) => (await queue.getJob(id))?.promote()));
  } finally {
    await queue.close();
  }
  await waitFor(async () => (await jobs('LLEN', 'active')) >= 4, { what: 'active jobs of both workers' });
  await waitFor(async () => (await jobs('LLEN', 'wait')) >= 5, { what: 'waiting jobs' });
  // One after the other: what is accepted together shares its jobs.
  for (let i = 0; i < 10; i++) accepted.push(...(await load.burst(10)));
  expect(await jobs('ZCARD', 'delayed')).toBeGreaterThan(0);
  return accepted;
}

/** How long it took until every subscriber had received every event. */
async function untilReceived(stage: Stage, accepted: Accepted[], since: number): Promise<number> {
  const pairs = expectedPairs(stage, accepted);
  const isReceived = () => pairs.every((pair) => stage.ledger.has(pair));
  await waitFor(isReceived, { what: `${pairs.length} deliveries` });
  return Date.now() - since;
}
