import { readConfig } from '../infrastructure/config/environment.setup';
import { attachStore } from '../store.setup';
import { migrate } from '../infrastructure/database/migrator.setup';

/** Runs `webhooks migrate`: migrates the database, as every start of the service does. */
export async function migrateStore(): Promise<void> {
  const { config, close } = await attachStore(readConfig());
  try {
    await migrate(config.databaseUrl ?? '');
  } finally {
    await close();
  }
}
