import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import { ClockService } from '../../src/database/clock.service';
import { StatementsService } from '../../src/database/statements.service';
import { FanOutRepository, type Subscriber } from '../../src/deliveries/fan-out.repository';
import { startApplication, stopApplication } from '../support/application';
import { planOf } from '../support/plans';
import { cloneDatabase, type TestDatabase } from '../support/postgres';

const OTHERS = 20_000;
const MAX_PAGES = 50;

describe(`Where ${OTHERS} users have a webhook for the same event`, () => {
  let database: TestDatabase;
  let app: NestFastifyApplication;

  beforeAll(async () => {
    database = await cloneDatabase();
    app = await startApplication(database.url, []);
    await database.query(
      `insert into webhook_service.webhooks (id, user_id, url, events, secret, created_at)
       select gen_random_uuid(), 'user ' || n, 'https://receiver.example/', '{job.started}', '', now() - interval '1 hour'
       from generate_series(1, $1::int) as n`,
      [OTHERS],
    );
    await database.query('vacuum (analyze) webhook_service.webhooks');
  });
  afterAll(async () => {
    await stopApplication(app);
    await database.drop();
  });

  async function subscribersOf(userId: string | null): Promise<Subscriber[]> {
    const { id } = app.get(ClockService).birth();
    const insert = `insert into webhook_service.events (id, name, user_id, body) values ($1, 'job.started', $2, '{}')`;
    await database.query(insert, [id, userId]);
    const found: Subscriber[] = [];
    for await (const page of app.get(FanOutRepository).subscribers([{ id, name: 'job.started' }])) found.push(...page);
    return found;
  }

  it("the subscribers of one user's event are found among his webhooks alone", async () => {
    const run = jest.spyOn(app.get(StatementsService), 'run');
    const found = await subscribersOf('user 77');
    const [[statement, parameters] = []] = run.mock.calls.filter(([{ name }]) => name === 'subscribers');
    run.mockRestore();
    expect(found.map(({ userId }) => userId)).toEqual(['user 77']);
    const plan = await planOf(app.get(DataSource), { sql: statement!.text, parameters: [...parameters!] });
    expect(plan).toMatchObject({ rows: 1, scanned: 0 });
    expect(plan.pages).toBeLessThan(MAX_PAGES);
  });

  it("everybody's are found, page after page, when the event is for everybody", async () => {
    const found = await subscribersOf(null);
    expect(new Set(found.map(({ userId }) => userId)).size).toBe(OTHERS);
    expect(found).toHaveLength(OTHERS);
  });
});
