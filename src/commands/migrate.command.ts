import { readConfig } from '../plumbing/config/environment.launcher';
import { attachStore } from '../store.launcher';
import { migrate } from '../plumbing/database/migrator.launcher';

/** `webhooks migrate`: brings the schema up to date, as every start of the service does. */
export async function migrateStore(): Promise<void> {
  const { config, close } = await attachStore(readConfig());
  try {
    await migrate(config.databaseUrl ?? '');
  } finally {
    await close();
  }
}
