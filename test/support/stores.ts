import { startCluster, type TestCluster } from './redis-cluster';
import { startRedis } from './redis';
import { type RedisPair, startRedisPair } from './redis-pair';
import { startSentinels, type TestSentinels } from './redis-sentinels';
import { storesOf, type StoreName } from './selection.cjs';
import { describeWhereInstalled } from './programs';
import type { Settings } from './service';

export interface Store {
  readonly name: StoreName;
  /** The settings that put a service's queues on this store; valid while the tests run. */
  settings(): Settings;
}

/**
 * Runs the same tests with queues on PostgreSQL and with queues on Redis. `npm test` runs them on PostgreSQL and
 * `npm run test:all` on Redis. Without a redis-server on the machine these are reported as skipped.
 */
export function describeOnStores(title: string, tests: (store: Store) => void): void {
  const stores = storesOf(expect.getState().testPath);
  if (stores.includes('PostgreSQL')) {
    describe(`${title} (queues on PostgreSQL)`, () => tests({ name: 'PostgreSQL', settings: () => ({}) }));
  }
  if (stores.includes('Redis'))
    describeWithRedis(title, (url) => tests({ name: 'Redis', settings: () => ({ REDIS_URL: url() }) }));
}

/** Tests that need a Redis, whose url is known while they run. */
export function describeWithRedis(title: string, tests: (url: () => string | undefined) => void): void {
  describeWith('Redis', startRedis, title, (redis) => tests(() => redis()?.url));
}

/** Tests that need a Redis cluster of three nodes, which runs while they do. */
export function describeWithCluster(title: string, tests: (cluster: () => TestCluster) => void): void {
  describeWith('a Redis cluster', startCluster, title, (cluster) => tests(() => whileRunning(cluster())));
}

/** Tests that need a Redis with a replica and three Sentinels, which run while they do. */
export function describeWithSentinels(title: string, tests: (sentinels: () => TestSentinels) => void): void {
  describeWith('Redis with Sentinels', startSentinels, title, (sentinels) => tests(() => whileRunning(sentinels())));
}

/** Tests that need a Redis whose address moves to another one, both of which run while they do. */
export function describeWithRedisPair(title: string, tests: (pair: () => RedisPair) => void): void {
  describeWith('a Redis that fails over', startRedisPair, title, (pair) => tests(() => whileRunning(pair())));
}

function describeWith<T extends { stop(): Promise<void> }>(
  name: string,
  start: () => Promise<T>,
  title: string,
  tests: (store: () => T | undefined) => void,
): void {
  describeWhereInstalled('redis-server', `${title} (queues on ${name})`, () => {
    let store: T | undefined;
    beforeAll(async () => {
      store = await start();
    });
    tests(() => store);
    // jest runs these in the order of their registration: the service ends before its Redis does.
    afterAll(() => store?.stop());
  });
}

function whileRunning<T>(store: T | undefined): T {
  if (!store) throw new Error('The store runs only while tests do.');
  return store;
}
