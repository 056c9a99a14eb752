import { DataSource } from 'typeorm';
import { readConfig } from './src/plumbing/config/environment.launcher';
import { dataSourceOptions } from './src/plumbing/database/data-source.launcher';
import { ensureSchema } from './src/plumbing/database/migrator.launcher';
import { attachStore, type Store } from './src/store.launcher';

/** Ends the embedded PostgreSQL with itself, if the CLI had to start it. */
class CliDataSource extends DataSource {
  constructor(private readonly store: Store) {
    super(dataSourceOptions(store.config.databaseUrl ?? '', 2, 0));
  }

  override async destroy(): Promise<void> {
    await super.destroy();
    await this.store.close();
  }
}

/** What the TypeORM CLI works on: `npm run migration:revert` and `migration:create`. */
export default (async () => {
  const store = await attachStore(readConfig());
  await ensureSchema(store.config.databaseUrl ?? '');
  return new CliDataSource(store);
})();
