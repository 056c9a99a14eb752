import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { EventTypesService } from '../../../src/catalogue/requests/event-types.service';
import { openTransaction } from '../../support/open-transaction';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { startApplication, stopApplication } from '../stage/application';

const typeOf = (name: string) => ({
  ...{ name, description: 'A test.', schema: { type: 'object' } as const, example: {} },
  application: null,
});

describe('A change of an event type', () => {
  let database: TestDatabase;
  let app: NestFastifyApplication;
  beforeAll(async () => {
    database = await cloneDatabase();
    app = await startApplication(database.url, []);
  });
  afterAll(async () => {
    await stopApplication(app);
    await database.drop();
  });

  const create = (name: string) => app.get(EventTypesService).create(typeOf(name));
  const lockOfOthers = () =>
    openTransaction(database, [`select pg_advisory_xact_lock(hashtextextended('event types', 0))`, []]);

  it('waits for those of others without a connection, and no longer than a second', async () => {
    const others = await lockOfOthers();
    let refused = 0;
    const all = Promise.allSettled(
      ['one.opened', 'two.opened', 'three.opened'].map((name) => create(name).finally(() => (refused += 1))),
    );
    // Returns at once when a connection waits.
    await others.waitedFor(1, () => refused === 3);
    expect(refused).toBe(3);
    expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await others.end('rollback');
    await create('one.opened');
  });

  it('is made when the others have ended', async () => {
    const names = Array.from({ length: 10 }, (_, i) => `many${i}.opened`);
    await Promise.all(names.map(create));
    const [row] = await database.query<{ count: number }>(
      `select count(*)::int as count from webhook_service.event_types where name = any($1)`,
      [names],
    );
    expect(row!.count).toBe(10);
  });
});
