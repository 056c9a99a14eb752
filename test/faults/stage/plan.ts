import type { SeededRandom } from '../../support/seeded-random';
import type { Store } from '../../support/stores';
import type { Fault } from './fault';
import { POSTGRES_FAULTS } from './postgres-faults';
import { PROCESS_FAULTS } from './process-faults';
import { REDIS_FAULTS } from './redis-faults';

const FAULTS: readonly Fault[] = [...REDIS_FAULTS, ...POSTGRES_FAULTS, ...PROCESS_FAULTS];

export interface PlannedFault {
  fault: Fault;
  /** Whether the fault before it may still be felt: nobody waits until everything has caught up. */
  soon: boolean;
  random: SeededRandom;
}

export interface PlanOptions {
  store: Store['name'];
  long: boolean;
  atLeast: number;
}

/**
 * The long form: every fault once, in the order of the fixed seed, then repetitions by the random one. The short form:
 * only as many as are asked for, half of them by the random seed.
 */
export function makePlan({ store, long, atLeast }: PlanOptions, fixed: SeededRandom, free: SeededRandom) {
  const forms: Fault['form'][] = long ? ['short', 'long', 'once'] : ['short'];
  const every = FAULTS.filter((fault) => forms.includes(fault.form) && (fault.store ?? store) === store);
  const repeatable = every.filter(({ form }) => form !== 'once');
  const planned = (fault: Fault, random: SeededRandom) => ({ fault, soon: random.next() < 1 / 3, random });
  const plan: PlannedFault[] = fixed.shuffled(every).map((fault) => planned(fault, fixed));
  if (!long) plan.splice(Math.ceil(atLeast / 2));
  while (plan.length < atLeast) plan.push(planned(free.pick(repeatable), free));
  return plan;
}
