import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import { DeliveryLogService } from '../../../../src/deliveries/log/delivery-log.service';
import type { DeliveryQueryDto } from '../../../../src/deliveries/log/dto/delivery-query.dto';
import { EventLogService } from '../../../../src/deliveries/log/event-log.service';
import { startApplication, stopApplication } from '../../stage/application';
import { type LongLog, pagesOfLog, RARE, writeLongLog } from '../../stage/long-log';
import { type Plan, planOf, statementsAbout } from '../../stage/plans';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';

/** LOG_ROWS=5000000 asks the same of a log of that size; the plans are printed then. */
const ROWS = Number(process.env.LOG_ROWS ?? 100_000);
const LIMIT = 50;
/** For each of 38 days an index is entered, three pages deep at most; then come the rows. The log may grow, this may not. */
const MAX_PAGES = 400;
const MAX_SORTED = 1000;

type Filters = Partial<Omit<DeliveryQueryDto, 'limit'>>;
type Named<T> = readonly (readonly [name: string, filters: T])[];

const STATUSES: Named<Filters> = [
  ['', {}],
  ['status=succeeded', { status: 'succeeded' }],
  ['status=failed', { status: 'failed' }],
  ['status=canceled', { status: 'canceled' }],
  ['status=pending', { status: 'pending' }],
];
const EVENTS: Named<Filters> = [
  ['', {}],
  ['event of all', { event: 'follower.gained' }],
  ['event of few', { event: 'operation.failed' }],
];
const TRIGGERS: Named<Filters> = [
  ['', {}],
  ['trigger=event', { trigger: 'event' }],
  ['trigger=redelivery', { trigger: 'redelivery' }],
  ['trigger=test', { trigger: 'test' }],
];

const product = (...lists: Named<Filters>[]): Named<Filters> =>
  lists.reduce<Named<Filters>>(
    (all, list) =>
      all.flatMap(([name, filters]) =>
        list.map(([more, others]) => [[name, more].filter(Boolean).join(' '), { ...filters, ...others }] as const),
      ),
    [['', {}]],
  );

describe(`In a log of ${ROWS} rows`, () => {
  let database: TestDatabase;
  let app: NestFastifyApplication;
  let log: LongLog;
  let times: Named<Filters>;

  beforeAll(async () => {
    database = await cloneDatabase();
    log = await writeLongLog(database, ROWS);
    app = await startApplication(database.url, []);
    const { since, until } = log.window;
    times = [
      ['', {}],
      ['since until', { since, until }],
      ['until', { until }],
    ];
  }, 600_000);
  afterAll(async () => {
    await stopApplication(app);
    await database.drop();
  });

  async function planned(table: string, read: () => Promise<unknown>): Promise<Plan[]> {
    const dataSource = app.get(DataSource);
    const sent = await statementsAbout(table, dataSource, read);
    expect(sent).not.toEqual([]);
    const plans: Plan[] = [];
    for (const statement of sent) plans.push(await planOf(dataSource, statement));
    return plans;
  }

  const ofWebhook = (webhookId: string, filters: Filters) =>
    planned('deliveries', () => app.get(DeliveryLogService).list(log.user, webhookId, { limit: LIMIT, ...filters }));
  const ofAll = (user: string, filters: Filters) =>
    planned('deliveries', () => app.get(DeliveryLogService).listAll(user, { limit: LIMIT, ...filters }));
  const ofEvents = (user: string, filters: Pick<Filters, 'event' | 'since' | 'until'>) =>
    planned('events', () => app.get(EventLogService).list(user, { limit: LIMIT, ...filters }));

  /** What reads more than a page of results may cost, each with its reason. */
  async function faults(named: Named<Filters>, read: (filters: Filters) => Promise<Plan[]>): Promise<string[]> {
    const found: string[] = [];
    const told: string[] = [];
    for (const [name, filters] of named) {
      for (const plan of await read(filters)) {
        const line = `${name || 'everything'}: ${JSON.stringify(plan)}`;
        told.push(line);
        if (plan.pages > MAX_PAGES || plan.sorted > MAX_SORTED || plan.scanned > MAX_SORTED) found.push(line);
      }
    }
    if (process.env.LOG_ROWS) process.stdout.write(`\n${expect.getState().currentTestName}\n${told.join('\n')}\n`);
    return found;
  }

  it('there is far more to read than a page of results may cost', async () => {
    expect(await pagesOfLog(database)).toBeGreaterThan(20 * MAX_PAGES);
  });

  it('a page of one webhook is found by every combination of filters', async () => {
    const combinations = product(STATUSES, EVENTS, TRIGGERS, times);
    expect(await faults(combinations, (filters) => ofWebhook(log.loud, filters))).toEqual([]);
  });

  it('a page over all webhooks of a user is found by every combination of filters', async () => {
    const combinations = product(STATUSES, EVENTS, TRIGGERS, times);
    expect(await faults(combinations, (filters) => ofAll(log.user, filters))).toEqual([]);
  });

  it('what became of one event is found', async () => {
    const combinations = product([['eventId', { eventId: log.eventId }]], STATUSES);
    expect(await faults(combinations, (filters) => ofWebhook(log.loud, filters))).toEqual([]);
    expect(await faults(combinations, (filters) => ofAll(log.user, filters))).toEqual([]);
  });

  it('a page of those who have little is found, and of those who have nothing', async () => {
    const combinations = product(STATUSES, EVENTS, times);
    expect(await faults(combinations, (filters) => ofWebhook(log.quiet, filters))).toEqual([]);
    expect(await faults(combinations, (filters) => ofAll(log.listener, filters))).toEqual([]);
    expect(await faults(combinations, (filters) => ofAll(log.newcomer, filters))).toEqual([]);
  });

  it('what a broken webhook was sent is found', async () => {
    const combinations = product(
      STATUSES.filter(([name]) => name !== 'status=succeeded'),
      EVENTS,
      times,
    );
    expect(await faults(combinations, (filters) => ofWebhook(log.broken, filters))).toEqual([]);
  });

  it.each(['user', 'publisher', 'listener', 'newcomer'] as const)(
    'a page of events is found for the %s',
    async (who) => {
      const combinations = product(EVENTS, times);
      expect(await faults(combinations, (filters) => ofEvents(log[who], filters))).toEqual([]);
    },
  );

  it('the rare are where they should be', async () => {
    const rare = product(STATUSES, EVENTS, TRIGGERS).filter(([name]) =>
      / of few|redelivery|test|pending|canceled/.test(name),
    );
    expect(rare.length).toBeGreaterThan(RARE);
    const [plan] = await ofWebhook(log.loud, { event: 'operation.failed' });
    expect(plan?.rows).toBe(RARE);
  });
});
