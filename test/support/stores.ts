import { startCluster, type TestCluster } from './redis-cluster';
import { startRedis, type TestRedis } from './redis';
import { type Half, halves } from './selection.cjs';
import type { Settings } from './service';

/** Set by globalSetup when this machine has a redis-server. */
export const TEST_REDIS = 'TEST_REDIS';

export interface Store {
  readonly name: 'PostgreSQL' | 'Redis';
  /** The settings that put a service's queues on this store; valid while the tests run. */
  settings(): Settings;
}

const isOfThisRun = (half: Half) => halves(expect.getState().testPath).includes(half);

/**
 * Runs the same tests with queues on PostgreSQL and with queues on Redis. `npm test` runs the first half of most files
 * and `npm run test:all` the second. Without a redis-server on the machine the second half is reported as skipped;
 * globalSetup says so in a line of its own.
 */
export function describeOnStores(title: string, tests: (store: Store) => void): void {
  if (isOfThisRun('first')) {
    describe(`${title} (queues on PostgreSQL)`, () => tests({ name: 'PostgreSQL', settings: () => ({}) }));
  }
  if (isOfThisRun('rest'))
    describeWithRedis(title, (url) => tests({ name: 'Redis', settings: () => ({ REDIS_URL: url() }) }));
}

/** Tests that need a Redis, whose url is known while they run. */
export function describeWithRedis(title: string, tests: (url: () => string | undefined) => void): void {
  const describeOnRedis = process.env[TEST_REDIS] ? describe : xdescribe;
  describeOnRedis(`${title} (queues on Redis)`, () => {
    let redis: TestRedis | undefined;
    beforeAll(async () => {
      redis = await startRedis();
    });
    tests(() => redis?.url);
    // jest runs these in the order of their registration: the service ends before its Redis does.
    afterAll(() => redis?.stop());
  });
}

/** Tests that need a Redis cluster of three nodes, which runs while they do. */
export function describeWithCluster(title: string, tests: (cluster: () => TestCluster) => void): void {
  const describeOnCluster = process.env[TEST_REDIS] ? describe : xdescribe;
  describeOnCluster(`${title} (queues on a Redis cluster)`, () => {
    let cluster: TestCluster | undefined;
    beforeAll(async () => {
      cluster = await startCluster();
    });
    tests(() => {
      if (!cluster) throw new Error('The cluster runs only while tests do.');
      return cluster;
    });
    afterAll(() => cluster?.stop());
  });
}
