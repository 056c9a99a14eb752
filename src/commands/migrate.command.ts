import { readConfig } from '../plumbing/config/environment.launcher';
import { attachStore } from '../store.launcher';
import { migrate } from '../plumbing/database/migrator.launcher';

/** Brings the schema up to date, as every start of the service does. */
async function main(): Promise<void> {
  const { config, close } = await attachStore(readConfig());
  try {
    await migrate(config.databaseUrl ?? '');
  } finally {
    await close();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
