import { faultLasts } from '../support/chronicle';
import type { Accepted } from './stage/chaos-load';
import { type Stage, useStage } from './stage/chaos-stage';
import { waitFor } from '../support/wait-for';
import { isLong } from './stage/form';
import { print } from './stage/report';
import { expectedPairs, isSettled, NOTHING_AMISS, verdictOn } from './stage/fault-steps';
import { describeOnRedisAlone } from './stage/store-names';

const SECONDS = isLong ? [1, 7, 30, 120] : [1];
const FIRST_WITHIN_MS = 10_000;
const ALL_WITHIN_MS = 15_000;

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
        timeoutMs: FIRST_WITHIN_MS,
      });
      const allMs = await receivedWithin(stage(), accepted, backAt, ALL_WITHIN_MS);
      print(`Redis empty after ${seconds} s: first delivery after ${receivedAt - backAt} ms, all after ${allMs} ms`);
      expect(await isSettled(stage())).toBe(true);
      expect((await verdictOn(stage())).verdict).toMatchObject({ ...NOTHING_AMISS, unscripted: [] });
    },
    360_000,
  );
});

/** Publishes no more than 500 deliveries' worth, and stops when Redis holds jobs in every state. */
async function withWaitingDelayedAndActiveJobs({ load, ledger, redis }: Stage): Promise<Accepted[]> {
  const jobs = async (command: string, state: string) =>
    Number(await redis!.command(command, `bull:{send-0}:${state}`));
  const accepted = await load.burst(40);
  await waitFor(async () => (await jobs('ZCARD', 'delayed')) >= 10, { what: 'delayed jobs' });
  ledger.hold();
  // One after the other: what is accepted together shares its jobs.
  for (let i = 0; i < 15; i++) accepted.push(...(await load.burst(10)));
  await waitFor(async () => (await jobs('LLEN', 'active')) >= 4, { what: 'active jobs of both workers' });
  await waitFor(async () => (await jobs('LLEN', 'wait')) >= 5, { what: 'waiting jobs' });
  expect(await jobs('ZCARD', 'delayed')).toBeGreaterThan(0);
  return accepted;
}

/** How long it took until every subscriber had received every event. */
async function receivedWithin(stage: Stage, accepted: Accepted[], since: number, timeoutMs: number): Promise<number> {
  const pairs = expectedPairs(stage, accepted);
  const isReceived = () => pairs.every((pair) => stage.ledger.has(pair));
  await waitFor(isReceived, { what: `${pairs.length} deliveries`, timeoutMs: since + timeoutMs - Date.now() });
  return Date.now() - since;
}
