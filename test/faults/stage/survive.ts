import { randomInt } from 'node:crypto';
import { SeededRandom } from '../../support/seeded-random';
import { type Stage, useStage } from './chaos-stage';
import type { Store } from '../../support/stores';
import { PATIENCE_MS, waitFor } from '../../support/wait-for';
import { runFaults } from './chaos-run';
import { AT_LEAST_EVENTS, AT_LEAST_FAULTS, isLong } from './form';
import { makePlan } from './plan';
import { availabilityOf, print, publishingOf, summaryOf, tableOf } from './report';
import { expectedPairs, isSettled, NOTHING_AMISS, subscribeEverybody, verdictOn } from './fault-steps';

const FIXED_SEED = 20_261_120;
const FREE_SEED = Number(process.env.FAULTS_SEED) || randomInt(1, 2 ** 31);

const EVENTS_PER_SECOND = 20;
/**
 * A machine that is too slow for the load would deliver later and later, until others took over what waits: in the short form
 * the load waits for what is to be received.
 */
const MAX_BEHIND = isLong ? Infinity : 200;
/** For the faults: in the short form ten times what they take. */
const TIME_MS = isLong ? (18 * 60_000 * Math.max(32, AT_LEAST_FAULTS)) / 32 : 15 * 60_000;
/** For the events that are missing after the faults: twice what all of them take, and more than that of a few. */
const MORE_EVENTS_MS = Math.max(PATIENCE_MS, (2 * 1000 * AT_LEAST_EVENTS) / EVENTS_PER_SECOND);

/** The tests of one store: a load, one fault after the other, and a verdict on everything that was accepted. */
export function survivesFaultsOn(store: Store['name']): void {
  const stage = useStage(() => ({ store }), subscribeEverybody);

  it(`nothing is lost, on ${store}`, () => survive(stage(), store), TIME_MS + MORE_EVENTS_MS + 2 * PATIENCE_MS);
}

async function survive(stage: Stage, store: Store['name']): Promise<void> {
  const seeds = [new SeededRandom(FIXED_SEED), new SeededRandom(FREE_SEED)] as const;
  const plan = makePlan({ store, long: isLong, atLeast: AT_LEAST_FAULTS }, ...seeds);
  const behind = () => expectedPairs(stage, stage.load.accepted).length - stage.ledger.received;
  stage.load.start(EVENTS_PER_SECOND, () => behind() < MAX_BEHIND);
  const run = await runFaults(stage, plan, Date.now() + TIME_MS);
  // Faults that are soon over leave less time for events; what is still missing then is said at the end.
  const isEnough = () => stage.load.accepted.length >= AT_LEAST_EVENTS;
  await waitFor(isEnough, { what: 'enough events', timeoutMs: MORE_EVENTS_MS }).catch(() => undefined);
  await stage.load.stop();
  await isSettled(stage);

  const { verdict, rows } = await verdictOn(stage);
  const availability = availabilityOf(stage.load.publications, stage.chronicle);
  const { length: events } = stage.load.accepted;
  print(`Faults on ${store}: seeds ${FIXED_SEED} and ${FREE_SEED}, ${events} events accepted\n${tableOf(run, rows)}`);
  print(`${summaryOf(verdict)}\n${publishingOf(availability)}`);

  const stuck = run.faults.filter(({ resumedMs, caughtUpMs }) => [resumedMs, caughtUpMs].includes('never'));
  const { complaints } = run;
  const { refused } = availability;
  // All at once, so that a failure shows everything that is amiss.
  expect({ ...verdict, complaints, stuck, refused }).toMatchObject({
    ...NOTHING_AMISS,
    unscripted: [],
    complaints: [],
    stuck: [],
    refused: [],
  });
  expect(verdict.doubled.length).toBeLessThanOrEqual(verdict.inFlight);
  expect(events).toBeGreaterThanOrEqual(AT_LEAST_EVENTS);
}
