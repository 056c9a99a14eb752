import { Client } from 'pg';
import { refuseSharedSessions } from '../../../../src/infrastructure/database/migrator.setup';
import { type PoolMode, usePgBouncer } from '../../../support/pgbouncer';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';

const TIMES = 25;

describe('The check for sessions that connections share', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await cloneDatabase();
  });
  afterAll(() => database.drop());

  const start = usePgBouncer();
  const through = async (mode: PoolMode, settings = {}) => (await start(mode, settings)).urlOf(database.url);

  const MODES: [string, PoolMode, object][] = [
    ['transaction mode', 'transaction', {}],
    ['transaction mode with one server', 'transaction', { default_pool_size: 1 }],
    ['transaction mode that takes servers in turn', 'transaction', { server_round_robin: 1, min_pool_size: 2 }],
    ['transaction mode that resets every server', 'transaction', { server_reset_query_always: 1 }],
    ['statement mode', 'statement', {}],
  ];

  it.each(MODES)('refuses %s, idle and under load', async (_, mode, settings) => {
    const url = await through(mode, settings);
    expect(await refusals(url)).toBe(TIMES);
    const end = load(url);
    expect(await refusals(url)).toBe(TIMES);
    await end();
  });

  it('accepts session mode and an ordinary server, also under load', async () => {
    for (const url of [database.url, await through('session')]) {
      const end = load(url);
      expect(await refusals(url)).toBe(0);
      await end();
    }
  });
});

async function refusals(url: string): Promise<number> {
  let refused = 0;
  for (let i = 0; i < TIMES; i++) {
    const [first, second] = [await connect(url), await connect(url)];
    await refuseSharedSessions(first, second).catch((error: Error) => {
      expect(error.message).toContain('transaction or statement mode');
      refused++;
    });
    await Promise.all([first.end(), second.end()]);
  }
  return refused;
}

/** Eight clients whose statements take up to 2 ms. Returns a function that ends them. */
function load(url: string): () => Promise<void> {
  let isOver = false;
  const clients = Array.from({ length: 8 }, async () => {
    const client = await connect(url);
    while (!isOver) await client.query('select pg_sleep(random() * 0.002)');
    await client.end();
  });
  return async () => {
    isOver = true;
    await Promise.all(clients);
  };
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}
