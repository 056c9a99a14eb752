import type { Stage } from './chaos-stage';
import { waitFor } from '../../support/wait-for';
import type { PlannedFault } from './plan';
import { expectedPairs } from './fault-steps';

/** How one fault went. */
export interface FaultReport {
  name: string;
  from: number;
  until: number;
  /** From its end until every worker had made an attempt again. */
  resumedMs: Waited;
  /** From its end until the receiver had got everything that was accepted before. */
  caughtUpMs: Waited;
}

/** How long it took; `never`: it timed out; null: not awaited. */
export type Waited = number | 'never' | null;

export interface RunReport {
  faults: FaultReport[];
  complaints: string[];
}

/** Workers consume again within 10 s on a quiet machine, and what a killed worker left behind is delivered within 20 s. */
const RESUMES_WITHIN_MS = 150_000;
const CATCHES_UP_WITHIN_MS = 200_000;

/** Strikes one fault after the other, as long as there is time, and writes down how the service came out of each. */
export async function runFaults(stage: Stage, plan: readonly PlannedFault[], giveUpAt: number): Promise<RunReport> {
  const report: RunReport = { faults: [], complaints: [] };
  const givenUp = new Set<string>();
  for (const [i, { fault, random }] of plan.entries()) {
    if (Date.now() > giveUpAt) {
      report.complaints.push(`The time was up before ${plan.length - i} of the faults.`);
      break;
    }
    const complain = (message: string) => report.complaints.push(`${i + 1}. ${fault.name}: ${message}`);
    const from = Date.now();
    try {
      await fault.strike({ stage, random, complain });
    } catch (error) {
      complain(String(error));
      await stage.repair();
    }
    const until = Date.now();
    const resumedMs = await patiently(untilResumed(stage), until);
    const caughtUpMs = plan[i + 1]?.soon ? null : await patiently(untilCaughtUp(stage, until, givenUp), until);
    report.faults.push({ name: fault.name, from, until, resumedMs, caughtUpMs });
    await restartTheDead(stage, complain);
  }
  return report;
}

async function patiently(pending: Promise<unknown>, since: number): Promise<number | 'never'> {
  return pending.then(
    () => Date.now() - since,
    () => 'never',
  );
}

/** A worker that hangs must not hide behind one that works: each has to log an attempt. */
async function untilResumed({ workers }: Stage): Promise<void> {
  const since = workers.map((worker) => worker.logs().length);
  const hasResumed = () => workers.every((worker, i) => worker.logs().slice(since[i]).includes('"msg":"attempt"'));
  await waitFor(hasResumed, { what: 'an attempt of every worker', timeoutMs: RESUMES_WITHIN_MS, everyMs: 100 });
}

/** Until everything accepted by then is received; a wait that timed out once is not repeated. */
async function untilCaughtUp(stage: Stage, instant: number, givenUp: Set<string>): Promise<void> {
  const accepted = stage.load.accepted.filter(({ acceptedAt }) => acceptedAt <= instant);
  let missing = expectedPairs(stage, accepted).filter((pair) => !givenUp.has(pair));
  const isCaughtUp = () => {
    missing = missing.filter((pair) => !stage.ledger.has(pair));
    return missing.length === 0;
  };
  try {
    await waitFor(isCaughtUp, { what: 'what was accepted', timeoutMs: CATCHES_UP_WITHIN_MS, everyMs: 50 });
  } catch (error) {
    for (const pair of missing) givenUp.add(pair);
    throw error;
  }
}

/** Only what a fault kills may die. Whatever else does not run is started again for the rest of the run, and noted. */
async function restartTheDead({ api, workers }: Stage, complain: (message: string) => void): Promise<void> {
  for (const dead of [api, ...workers].filter((process) => !process.runs())) {
    complain(`${dead.name} does not run any more. Its last words: ${dead.lastWords()}`);
    await dead.start();
  }
}
