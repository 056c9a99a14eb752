import type { SeededRandom } from '../../support/seeded-random';
import type { Stage } from './chaos-stage';
import type { Store } from '../../support/stores';

/** What a fault works with. */
export interface Scene {
  stage: Stage;
  random: SeededRandom;
  /** Notes what should not have been, for the end of the run. */
  complain(message: string): void;
}

/** Something that goes wrong under load, and is over when `strike` is: what died is alive again, by the harness's hand. */
export interface Fault {
  /** What happens, as a sentence without a full stop. */
  name: string;
  /** Only where the queues are on this store. */
  store?: Store['name'];
  /** `short`: also in `npm test`; `long`: with FAULTS=long; `once`: there, but no more than once. */
  form: 'short' | 'long' | 'once';
  strike(scene: Scene): Promise<void>;
}
