import { resolve } from 'node:path';
import { startServers } from './postgres-server';
import { SERVICE_DIST } from './service';

/** What globalTeardown does; jest runs both in the same process. */
const shared = globalThis as { undoTestSetup?: () => Promise<void> };

/** Starts the PostgreSQL servers of a test run, with the migrated database that every test file clones. */
export default async function globalSetup(): Promise<void> {
  process.env[SERVICE_DIST] = resolve(process.env[SERVICE_DIST] ?? 'dist');
  const started = startServers();
  shared.undoTestSetup = () => started.then((stop) => stop());
  endWithTheRun(shared.undoTestSetup);
  await started;
}

/** Ctrl-C ends jest without a teardown; PostgreSQL, which does not hear of it, must not survive that. */
function endWithTheRun(undoAll: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      void undoAll().finally(() => process.exit(1));
    });
  }
}
