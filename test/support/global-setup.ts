import { resolve } from 'node:path';
import { startPostgres } from './postgres-server';
import { hasRedisServer } from './redis';
import { SERVICE_DIST } from './service';
import { TEST_REDIS } from './stores';

/** What globalTeardown does; jest runs both in the same process. */
const shared = globalThis as { undoTestSetup?: () => Promise<void> };

/** Starts the PostgreSQL of a test run, with the migrated database that every test file clones. */
export default async function globalSetup(): Promise<void> {
  process.env[SERVICE_DIST] = resolve(process.env[SERVICE_DIST] ?? 'dist');
  const started = startPostgres();
  shared.undoTestSetup = () => started.then((stop) => stop());
  endWithTheRun(shared.undoTestSetup);
  await started;
  announceRedis();
}

function announceRedis(): void {
  process.env[TEST_REDIS] = hasRedisServer() ? 'yes' : '';
  if (process.env[TEST_REDIS]) return;
  process.stderr.write('\n!! SKIPPED: every test on Redis, because this machine has no redis-server.\n\n');
}

/** Ctrl-C ends jest without a teardown; PostgreSQL, which does not hear of it, must not survive that. */
function endWithTheRun(undoAll: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      void undoAll().finally(() => process.exit(1));
    });
  }
}
