import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import { ClockService } from '../../../../src/infrastructure/database/clock.service';
import { StatementsService } from '../../../../src/infrastructure/database/statements.service';
import { FanOutRepository, type Subscriber } from '../../../../src/deliveries/fan-out/fan-out.repository';
import { FanOutService } from '../../../../src/deliveries/fan-out/fan-out.service';
import type { FirstAttempt, Outcome } from '../../../../src/deliveries/rows/attempt';
import { DispatchService } from '../../../../src/deliveries/sending/dispatch.service';
import { OutcomesService } from '../../../../src/deliveries/sending/outcomes.service';
import { startApplication, stopApplication } from '../../stage/application';
import { planOf } from '../../stage/plans';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';

const OTHERS = 20_000;
const MAX_PAGES = 50;

describe(`With ${OTHERS} users who have a webhook for the same event`, () => {
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

  async function eventOf(userId: string | null): Promise<string> {
    const { id } = app.get(ClockService).newId();
    const insert = `insert into webhook_service.events (id, name, user_id, body) values ($1, 'job.started', $2, '{}')`;
    await database.query(insert, [id, userId]);
    return id;
  }

  /** The plan of the statement with this name that the action runs. */
  async function planOfStatement(name: string, action: () => Promise<unknown>) {
    const run = jest.spyOn(app.get(StatementsService), 'run');
    await action();
    const [[statement, parameters] = []] = run.mock.calls.filter(([sent]) => sent.name === name);
    run.mockRestore();
    return planOf(app.get(DataSource), { sql: statement!.text, parameters: [...parameters!] });
  }

  async function subscribersOf(userId: string | null): Promise<Subscriber[]> {
    const found: Subscriber[] = [];
    const id = await eventOf(userId);
    const fanOut = app.get(FanOutRepository);
    let page = (await fanOut.claim([id])).get(id);
    while (page) {
      found.push(...page.subscribers);
      page = page.isLast ? undefined : await fanOut.next(id, found.at(-1)?.webhookId as string);
    }
    return found;
  }

  /** Canceled, so that nothing is sent. */
  async function insertRow(first: FirstAttempt): Promise<void> {
    const outcome = {
      deliveryId: first.id,
      status: 'canceled',
      error: null,
      exchange: null,
      retryInMs: null,
      finalStatus: null,
    };
    await app.get(OutcomesService).insert(first, outcome as Outcome);
  }

  async function stateOf(eventId: string) {
    const [state] = await database.query<{ deliveries: number; isFannedOut: boolean }>(
      `select fanned_out_at is not null as "isFannedOut",
              (select count(*)::int from webhook_service.deliveries where event_id = e.id) as deliveries
       from webhook_service.events e where id = $1`,
      [eventId],
    );
    return state;
  }

  it('an event of one user reads only the webhooks of that user', async () => {
    let found: Subscriber[] = [];
    const plan = await planOfStatement('claim_events', async () => (found = await subscribersOf('user 77')));
    expect(found.map(({ userId }) => userId)).toEqual(['user 77']);
    expect(plan.rows).toBe(1);
    // At most the table of events, while it has one row.
    expect(plan.scanned).toBeLessThanOrEqual(1);
    expect(plan.pages).toBeLessThan(MAX_PAGES);
  });

  it('an event to all users reads the webhooks of all users page by page', async () => {
    const found = await subscribersOf(null);
    expect(new Set(found.map(({ userId }) => userId)).size).toBe(OTHERS);
    expect(found).toHaveLength(OTHERS);
  });

  it('an event completes when all deliveries have rows, and an interrupted one starts only the rest', async () => {
    const id = await eventOf(null);
    let begun = 0;
    const attempts = jest.spyOn(app.get(DispatchService), 'attemptNew').mockImplementation(async (first) => {
      begun += 1;
      if (begun % 1000 === 0) throw new Error('interrupted');
      await insertRow(first);
    });
    const failed = OTHERS / 1000;
    await app.get(FanOutService).add({ id, userId: '' });
    expect(await stateOf(id)).toEqual({ isFannedOut: false, deliveries: OTHERS - failed });
    // The state in which the sweeper leaves the event after its lease has expired.
    await database.query(
      `update webhook_service.events set claimed = false, leased_until = now() + interval '10 seconds' where id = $1`,
      [id],
    );
    attempts.mockImplementation((first) => insertRow(first));
    await app.get(FanOutService).add({ id, userId: '' });
    expect(attempts.mock.calls).toHaveLength(OTHERS + failed);
    expect(await stateOf(id)).toEqual({ isFannedOut: true, deliveries: OTHERS });
  });

  it('events of one millisecond do not read the deliveries of each other', async () => {
    const [claimed, before, webhooks] = [10, 50, 100];
    await database.query(
      `insert into webhook_service.webhooks (id, user_id, url, events, secret, created_at)
       select gen_random_uuid(), 'wide user', 'https://receiver.example/', '{job.started}', '', now() - interval '1 hour'
       from generate_series(1, $1::int)`,
      [webhooks],
    );
    const { id } = app.get(ClockService).newId();
    const insertEvents = async (from: number, count: number): Promise<string[]> => {
      const ids = Array.from({ length: count }, (_, i) => `${id.slice(0, -4)}${String(from + i).padStart(4, '0')}`);
      const insert = `insert into webhook_service.events (id, name, user_id, body) select unnest($1::uuid[]), 'job.started', 'wide user', '{}'`;
      await database.query(insert, [ids]);
      return ids;
    };
    const earlier = await insertEvents(0, before);
    jest.spyOn(app.get(DispatchService), 'attemptNew').mockImplementation((first) => insertRow(first));
    await Promise.all(earlier.map(async (of) => app.get(FanOutService).add({ id: of, userId: 'wide user' })));
    expect(await stateOf(earlier[0]!)).toEqual({ isFannedOut: true, deliveries: webhooks });
    const later = await insertEvents(before, claimed);
    const plan = await planOfStatement('claim_events', () => app.get(FanOutRepository).claim(later));
    expect(plan.rows).toBe(claimed * webhooks);
    expect(plan.pages).toBeLessThan(10 * plan.rows);
  });

  it('an event without subscribers completes', async () => {
    const id = await eventOf('nobody');
    await app.get(FanOutService).add({ id, userId: '' });
    expect(await stateOf(id)).toEqual({ isFannedOut: true, deliveries: 0 });
  });
});
