import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { StatementsService } from '../../../src/infrastructure/database/statements.service';
import type { EventFilter } from '../../../src/webhooks/filter/event-filter';
import { type FilteredWebhook, FiltersService } from '../../../src/webhooks/filters.service';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { startApplication, stopApplication } from '../stage/application';

const WEBHOOKS = 10_000;

describe(`With ${WEBHOOKS} webhooks that have filters`, () => {
  let database: TestDatabase;
  let app: NestFastifyApplication;
  let filters: FiltersService;

  beforeAll(async () => {
    database = await cloneDatabase();
    app = await startApplication(database.url, []);
    filters = app.get(FiltersService);
  });
  afterAll(async () => {
    await stopApplication(app);
    await database.drop();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await database.query('delete from webhook_service.webhooks');
  });

  const insert = (count: number, filter: string): Promise<FilteredWebhook[]> =>
    database.query<FilteredWebhook>(
      `insert into webhook_service.webhooks (id, user_id, url, events, secret, created_at, filter)
       select gen_random_uuid(), 'user ' || n, 'https://receiver.example/', '{job.started}', '', now(), ${filter}
       from generate_series(1, $1::int) as n
       returning id as "webhookId", filter_hash as "filterHash"`,
      [count],
    );
  const eventOf = (data: object) => ({ name: 'job.started', userId: null, body: JSON.stringify({ data }) });

  it('reads each filter once, a hundred at a time', async () => {
    const webhooks = await insert(WEBHOOKS, `jsonb_build_object('data.n', n % 100)`);
    const run = jest.spyOn(app.get(StatementsService), 'run');
    for (let n = 0; n < 3; n++) expect(await filters.matching(eventOf({ n }), webhooks)).toHaveLength(100);
    expect(run.mock.calls.filter(([{ name }]) => name === 'load_filters')).toHaveLength(WEBHOOKS / 100);
  });

  it('reads a filter again when it has changed, and lets everything through when it is gone', async () => {
    const [webhook] = await insert(1, `'{"data.n": 1}'`);
    const change = async (filter: EventFilter | null) => {
      const values = [webhook!.webhookId, filter && JSON.stringify(filter)];
      const [changed] = await database.query<FilteredWebhook>(
        `update webhook_service.webhooks set filter = $2 where id = $1 returning id as "webhookId", filter_hash as "filterHash"`,
        values,
      );
      return changed!;
    };
    expect(await filters.matching(eventOf({ n: 2 }), [webhook!])).toEqual([]);
    const changed = await change({ 'data.n': 2 });
    expect(changed.filterHash).not.toBe(webhook!.filterHash);
    expect(await filters.matching(eventOf({ n: 2 }), [changed])).toEqual([changed]);
    expect((await change(null)).filterHash).toBeNull();
    expect(await filters.matching(eventOf({ n: 2 }), [{ ...webhook!, filterHash: '1' }])).toHaveLength(1);
  });

  it('lets the event loop turn while 100 of them with 20 conditions compare 96 KiB', async () => {
    const conditions = Array.from({ length: 20 }, (_, i) => [`data.lines.value${i}`, { ne: `x${i}` }]);
    const webhooks = await insert(100, `'${JSON.stringify(Object.fromEntries(conditions))}'`);
    const line = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`value${i}`, 'a text of some length here']));
    const event = eventOf({ lines: Array.from({ length: 100 }, () => line) });
    expect(event.body.length).toBeGreaterThan(70_000);
    await filters.matching(event, webhooks);
    let [turns, done] = [0, false];
    const turn = (): void => {
      turns += 1;
      if (!done) setImmediate(turn);
    };
    setImmediate(turn);
    const before = process.cpuUsage();
    for (let i = 0; i < 20; i++) expect(await filters.matching(event, webhooks)).toHaveLength(100);
    done = true;
    // A slice has 5 ms and the rest of its last comparison. Time in which others have the core does not count.
    const { user, system } = process.cpuUsage(before);
    expect(turns).toBeGreaterThan((user + system) / 1000 / 50);
  });
});
