import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../../../src/infrastructure/database/data-source.setup';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';

/** How the service connects, and how its commands and migrations connect. */
const SILENCES_MS = { service: undefined, commands: 0 };

describe('A connection to a server with JIT', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await cloneDatabase();
    await database.query(`alter database ${new URL(database.url).pathname.slice(1)} set jit = on`, []);
  });
  afterAll(() => database.drop());

  it.each(Object.entries(SILENCES_MS))('of the %s disables JIT', async (_, silenceMs) => {
    const dataSource = await new DataSource(dataSourceOptions(database.url, 1, silenceMs)).initialize();
    try {
      expect(await dataSource.query('show jit')).toEqual([{ jit: 'off' }]);
    } finally {
      await dataSource.destroy();
    }
  });
});
