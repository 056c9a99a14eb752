import { DataSource } from 'typeorm';
import { readConfig } from './src/infrastructure/config/environment.setup';
import { dataSourceOptions } from './src/infrastructure/database/data-source.setup';
import { ensureSchema } from './src/infrastructure/database/migrator.setup';
import { attachStore, type Store } from './src/store.setup';

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
