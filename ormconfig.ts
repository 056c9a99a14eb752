import { DataSource } from 'typeorm';
import { readConfig } from './src/config/environment.launcher';
import { dataSourceOptions } from './src/database/data-source.launcher';
import { attachStore } from './src/store.launcher';

/** What the TypeORM CLI works on: `npm run migration:run`, `migration:revert`, `migration:create`. */
export default (async () => {
  const { config } = await attachStore(readConfig());
  return new DataSource(dataSourceOptions(config.databaseUrl ?? '', 2));
})();
