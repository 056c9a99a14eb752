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
/** What the contract allows where no index has everything that is asked for, and the page itself. */
const MAX_LOOKED = 10_000 + 2 * LIMIT;
/** Of each row that has failed the later ones of its event are looked at: here none, or it itself. */
const MAX_GIVEN_UP = 2 * 1000 + 2 * LIMIT;

type Filters = Partial<Omit<DeliveryQueryDto, 'limit'>>;
type Named<T> = readonly (readonly [name: string, filters: T])[];

const STATUSES: Named<Filters> = [
  ['', {}],
  ['status=succeeded', { status: ['succeeded'] }],
  ['status=failed', { status: ['failed'] }],
  ['status=canceled', { status: ['canceled'] }],
  ['status=pending', { status: ['pending'] }],
];
const STATUS_SETS: Named<Filters> = [
  ['failed canceled', { status: ['failed', 'canceled'] }],
  ['succeeded pending', { status: ['succeeded', 'pending'] }],
];
const OUTCOMES: Named<Filters> = [
  ['error', { error: 'http_status' }],
  ['error of none', { error: 'tls_invalid' }],
  ['responseStatus=2xx', { responseStatus: '2xx' }],
  ['responseStatus=503', { responseStatus: '503' }],
  ['responseStatus=none', { responseStatus: 'none' }],
];
const GIVEN_UP: Named<Filters> = [['givenUp', { givenUp: true }]];
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

  const isDear = ({ pages, sorted, scanned }: Plan) => pages > MAX_PAGES || sorted > MAX_SORTED || scanned > MAX_SORTED;

  /** What reads more than a page of results may cost, each with its reason. */
  async function faults(
    named: Named<Filters>,
    read: (filters: Filters) => Promise<Plan[]>,
    isTooDear: (plan: Plan) => boolean = isDear,
  ): Promise<string[]> {
    const found: string[] = [];
    const told: string[] = [];
    for (const [name, filters] of named) {
      for (const plan of await read(filters)) {
        const line = `${name || 'everything'}: ${JSON.stringify(plan)}`;
        told.push(line);
        if (isTooDear(plan)) found.push(line);
      }
    }
    // Filters that contradict each other send nothing.
    expect(told).not.toEqual([]);
    if (process.env.LOG_ROWS) process.stdout.write(`\n${expect.getState().currentTestName}\n${told.join('\n')}\n`);
    return found;
  }

  it('there is far more to read than a page of results may cost', async () => {
    expect(await pagesOfLog(database)).toBeGreaterThan(20 * MAX_PAGES);
  });

  it('a page of what one index has is found there', async () => {
    const ofOne = [...STATUSES, ...TRIGGERS.slice(2), ...product(STATUS_SETS.slice(0, 1), times)];
    expect(await faults(ofOne, (filters) => ofWebhook(log.loud, filters))).toEqual([]);
    expect(await faults([...ofOne, ...EVENTS], (filters) => ofAll(log.user, filters))).toEqual([]);
  });

  it.each<[string, Named<Filters>, number]>([
    ['every combination of filters', product([...STATUSES, ...STATUS_SETS], EVENTS, TRIGGERS), MAX_LOOKED],
    ['every combination with an outcome', product(OUTCOMES, [...STATUSES, ...STATUS_SETS], EVENTS), MAX_LOOKED],
    ['every combination with what was given up', product(GIVEN_UP, STATUSES, EVENTS, TRIGGERS), MAX_GIVEN_UP],
  ])('a page by %s looks at no more rows than it may', async (_, combinations, most) => {
    const named = product(combinations, times.slice(0, 2));
    const isTooMuch = ({ looked }: Plan) => looked > most;
    for (const webhookId of [log.loud, log.broken]) {
      expect(await faults(named, (filters) => ofWebhook(webhookId, filters), isTooMuch)).toEqual([]);
    }
    expect(await faults(named, (filters) => ofAll(log.user, filters), isTooMuch)).toEqual([]);
  });

  it('what no page has room to look for is found by its cursors', async () => {
    const service = app.get(DeliveryLogService);
    const found: string[] = [];
    const cursors: (string | null)[] = [];
    do {
      const cursor = cursors.at(-1) ?? undefined;
      const page = await service.list(log.user, log.loud, { limit: LIMIT, cursor, event: 'operation.failed' });
      found.push(...page.items.map(({ id }) => id));
      cursors.push(page.nextCursor);
    } while (cursors.at(-1) !== null);
    expect(new Set(found).size).toBe(RARE);
    const none = await service.list(log.user, log.loud, { limit: LIMIT, responseStatus: '299' });
    expect([none.items, none.nextCursor]).toEqual([[], expect.any(String)]);
  });

  it('what became of one event is found', async () => {
    const combinations = product([['eventId', { eventId: log.eventId }]], STATUSES);
    expect(await faults(combinations, (filters) => ofWebhook(log.loud, filters))).toEqual([]);
    expect(await faults(combinations, (filters) => ofAll(log.user, filters))).toEqual([]);
  });

  it('a page of those who have little is found, and of those who have nothing', async () => {
    const combinations = product(STATUSES, EVENTS, times);
    const isTooMuch = ({ looked }: Plan) => looked > MAX_LOOKED;
    expect(await faults(combinations, (filters) => ofWebhook(log.quiet, filters), isTooMuch)).toEqual([]);
    expect(await faults(combinations, (filters) => ofAll(log.listener, filters))).toEqual([]);
    expect(await faults(combinations, (filters) => ofAll(log.newcomer, filters))).toEqual([]);
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
    const page = await app
      .get(DeliveryLogService)
      .list(log.user, log.loud, { limit: LIMIT, event: 'operation.failed' });
    expect(page.items).toHaveLength(RARE);
  });
});
