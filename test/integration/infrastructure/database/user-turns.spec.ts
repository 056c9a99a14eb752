import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../../../src/infrastructure/database/data-source.setup';
import { UserTurns } from '../../../../src/infrastructure/database/user-turns.repository';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';

const ROWS = 10;
const USERS = 100;
const MANY = 10_000;

describe('Turns of users', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  beforeAll(async () => {
    database = await cloneDatabase();
    dataSource = await new DataSource(dataSourceOptions(database.url, 2)).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });
  beforeEach(() => database.query('truncate webhook_service.stopping_webhooks'));

  const insert = (userId: string, count: number) =>
    database.query(
      `insert into webhook_service.stopping_webhooks (webhook_id, user_id, reason)
       select gen_random_uuid(), replace($1, '#', lpad(n::text, 4, '0')), 'webhook_deleted' from generate_series(1, $2::int) as n`,
      [userId, count],
    );
  const turns = () => new UserTurns(dataSource, 'stopping_webhooks', 'true');
  const countsOf = (rows: readonly { userId: string }[] | null) => {
    const counts: Record<string, number> = {};
    for (const { userId } of rows ?? []) counts[userId] = (counts[userId] ?? 0) + 1;
    return counts;
  };

  it('give each a few rows at a time, however many one has', async () => {
    await insert('busy', MANY);
    await insert('ada', 1);
    await insert('zoe', 2);
    const all = turns();
    const [first, second] = [await all.next(), await all.next()];
    expect(countsOf(first)).toEqual({ ada: 1, busy: ROWS, zoe: 2 });
    // The others have had all of theirs, and rest.
    expect(countsOf(second)).toEqual({ busy: ROWS });
    expect(new Set([...first!, ...second!].map(({ webhookId }) => webhookId)).size).toBe(3 + 2 * ROWS);
    all.repeat('busy');
    expect(await all.next()).toEqual(second);
  });

  it('come for every user, and none while all rest', async () => {
    await insert('user-#', 2 * USERS + 50);
    const all = turns();
    const met = new Set<string>();
    for (const count of [USERS, USERS, 50]) {
      const users = Object.keys(countsOf(await all.next()));
      expect(users).toHaveLength(count);
      for (const user of users) met.add(user);
    }
    expect(met.size).toBe(2 * USERS + 50);
    const realNow = performance.now.bind(performance);
    const now = jest.spyOn(performance, 'now').mockReturnValue(realNow());
    expect([await all.next(), await all.next(), await all.next()]).toEqual([[], [], null]);
    now.mockReturnValue(realNow() + 60_000);
    expect(await all.next()).toHaveLength(USERS);
    now.mockRestore();
  });

  it('meet rows that came after the last turn', async () => {
    const all = turns();
    expect(await all.next()).toBeNull();
    await insert('ada', ROWS);
    expect(await all.next()).toHaveLength(ROWS);
    await insert('bob', 1);
    expect(countsOf(await all.next())).toEqual({ bob: 1 });
  });
});
