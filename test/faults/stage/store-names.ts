import { describeWhereInstalled } from '../../support/programs';
import type { Store } from '../../support/stores';

/** As `describeOnStores`, for tests that start, kill and starve their stores themselves. */
export function describeOnStoreNames(title: string, tests: (store: Store['name']) => void): void {
  describe(`${title} (queues on PostgreSQL)`, () => tests('PostgreSQL'));
  describeOnRedisAlone(`${title} (queues on Redis)`, () => tests('Redis'));
}

/** What can only happen to Redis; reported as skipped on a machine that has none. */
export function describeOnRedisAlone(title: string, tests: () => void): void {
  describeWhereInstalled('redis-server', title, tests);
}
