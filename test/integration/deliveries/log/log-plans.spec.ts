import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import type { Principal } from '../../../../src/auth/access-token';
import { DeliveryLogService } from '../../../../src/deliveries/log/delivery-log.service';
import { DELIVERY_STATES } from '../../../../src/deliveries/log/delivery-filters';
import type { DeliveryQueryDto } from '../../../../src/deliveries/log/dto/delivery-query.dto';
import { EventLogService } from '../../../../src/deliveries/log/event-log.service';
import { DAY_MS } from '../../../../src/infrastructure/config/durations';
import { BEFORE_ALL_IDS, lowestIdOf } from '../../../../src/infrastructure/database/id-time';
import { startApplication, stopApplication } from '../../stage/application';
import { type LongLog, pagesOfLog, RARE, writeLongLog } from '../../stage/long-log';
import { type Plan, planOf, statementsAbout } from '../../stage/plans';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';

/** LOG_ROWS=5000000 runs the same tests on a log of that size, and prints the plans. */
const ROWS = Number(process.env.LOG_ROWS ?? 100_000);
const LIMIT = 50;
const SIGNAL = new AbortController().signal;
const as = (userId: string) => ({ userId }) as Principal;
/** One index descent of at most three pages for each of 38 days, plus the rows. Must not grow with the log. */
const MAX_PAGES = 400;
const MAX_SORTED = 1000;
/** The documented limit when no index covers all filters, plus the page itself. */
const MAX_LOOKED = 10_000 + 2 * LIMIT;
/** For each failed row the later rows of its event are read: here none, or the row itself. */
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
const STATES: Named<Filters> = DELIVERY_STATES.map((state) => [`state=${state}`, { state: [state] }]);
const EVENTS: Named<Filters> = [
  ['', {}],
  ['event of all', { event: 'follower.gained' }],
  ['event of few', { event: 'operation.failed' }],
];
const SUBJECTS: Named<Filters> = [
  ['subject of half', { subject: 'common' }],
  ['subject of few', { subject: 'rare' }],
  ['subject of one', { subject: 'invoice/70030' }],
  ['subject of none', { subject: 'invoice/none' }],
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
    planned('deliveries', () =>
      app.get(DeliveryLogService).list(as(log.user), webhookId, { limit: LIMIT, ...filters }, SIGNAL),
    );
  const ofAll = (user: string, filters: Filters) =>
    planned('deliveries', () => app.get(DeliveryLogService).listAll(as(user), { limit: LIMIT, ...filters }, SIGNAL));
  const ofEvents = (user: string, filters: Pick<Filters, 'event' | 'subject' | 'since' | 'until'>) =>
    planned('events', () => app.get(EventLogService).list(user, { limit: LIMIT, ...filters }));

  const isExpensive = ({ pages, sorted, scanned }: Plan) =>
    pages > MAX_PAGES || sorted > MAX_SORTED || scanned > MAX_SORTED;

  /** Returns the plans that cost more than a page of results may, each with the name of its filters. */
  async function expensivePlans(
    named: Named<Filters>,
    read: (filters: Filters) => Promise<Plan[]>,
    isTooExpensive: (plan: Plan) => boolean = isExpensive,
  ): Promise<string[]> {
    const found: string[] = [];
    const told: string[] = [];
    for (const [name, filters] of named) {
      for (const plan of await read(filters)) {
        const line = `${name || 'everything'}: ${JSON.stringify(plan)}`;
        told.push(line);
        if (isTooExpensive(plan)) found.push(line);
      }
    }
    // Contradictory filters send no statement.
    expect(told).not.toEqual([]);
    if (process.env.LOG_ROWS) process.stdout.write(`\n${expect.getState().currentTestName}\n${told.join('\n')}\n`);
    return found;
  }

  it('the log has more than 20 times the pages that a page of results may read', async () => {
    expect(await pagesOfLog(database)).toBeGreaterThan(20 * MAX_PAGES);
  });

  it('a page stays within the cost limits when one index covers the filters', async () => {
    const ofOne = [...STATUSES, ...TRIGGERS.slice(2), ...product(STATUS_SETS.slice(0, 1), times)];
    expect(await expensivePlans(ofOne, (filters) => ofWebhook(log.loud, filters))).toEqual([]);
    const ofOthers = [...EVENTS, ...product(SUBJECTS, times)];
    expect(await expensivePlans([...ofOne, ...ofOthers], (filters) => ofAll(log.user, filters))).toEqual([]);
  });

  describe.each<[string, Named<Filters>, number]>([
    ['every combination of filters', product([...STATUSES, ...STATUS_SETS], EVENTS, TRIGGERS), MAX_LOOKED],
    ['every combination with an outcome', product(OUTCOMES, [...STATUSES, ...STATUS_SETS], EVENTS), MAX_LOOKED],
    ['every combination with a subject', product(SUBJECTS, [...STATUSES, ...OUTCOMES], EVENTS), MAX_LOOKED],
    ['every combination with a subject and a state', product(SUBJECTS, [...STATES, ...GIVEN_UP]), MAX_GIVEN_UP],
    ['every combination with givenUp', product(GIVEN_UP, STATUSES, EVENTS, TRIGGERS), MAX_GIVEN_UP],
    ['every combination with a state', product(STATES, EVENTS, TRIGGERS), MAX_GIVEN_UP],
  ])('a page filtered by %s', (_, combinations, most) => {
    // Each combination is read of one of the three; of all three with LONG=1.
    it.each<[string, number, (filters: Filters) => Promise<Plan[]>]>([
      ['a webhook that succeeds', 0, (filters) => ofWebhook(log.loud, filters)],
      ['a webhook that fails', 1, (filters) => ofWebhook(log.broken, filters)],
      ['all webhooks of a user', 2, (filters) => ofAll(log.user, filters)],
    ])('of %s reads no more rows than allowed', async (_whose, turn, read) => {
      const all = product(combinations, times.slice(0, 2));
      const named = process.env.LONG === '1' ? all : all.filter((_each, i) => i % 3 === turn);
      expect(await expensivePlans(named, read, ({ looked }) => looked > most)).toEqual([]);
    });
  });

  it('a count reads no more rows than allowed, and is exact if it reads all', async () => {
    const service = app.get(DeliveryLogService);
    const count = (filters: Filters) => planned('deliveries', () => service.count(log.user, filters));
    const named = product([...STATUSES, ...STATES, ...GIVEN_UP], [...EVENTS, ...SUBJECTS], times.slice(0, 2));
    // For each row the later rows of its event are read, and its maximum is looked for once more.
    expect(await expensivePlans(named, count, ({ looked }) => looked > 2 * MAX_LOOKED)).toEqual([]);
    expect(await service.count(log.user, {})).toEqual({ count: 10_000, atLeast: true });
    const { since, until } = log.window;
    const { count: found, atLeast } = await service.count(log.user, { since, until });
    const [row] = await database.query<{ count: string }>(
      'select count(*) from webhook_service.deliveries where user_id = $1 and id >= $2 and id < $3',
      [log.user, lowestIdOf(since.getTime()), lowestIdOf(until.getTime())],
    );
    expect([found, atLeast]).toEqual([Number(row!.count), false]);
  });

  it('a page reads no more rows of the log while a webhook of the user is stopping', async () => {
    const insert = `insert into webhook_service.stopping_webhooks (webhook_id, user_id, reason)
                    values ($1, $2, 'webhook_disabled')`;
    await database.query(insert, [log.loud, log.user]);
    const named = product([...STATUSES, ...STATUS_SETS, ...STATES, ...OUTCOMES], EVENTS.slice(0, 2));
    // For each row its webhook is looked for among those that are stopping: for its status, and for its error.
    const isTooMuch = ({ looked }: Plan) => looked > 3 * MAX_LOOKED;
    expect(await expensivePlans(named, (filters) => ofWebhook(log.loud, filters), isTooMuch)).toEqual([]);
    expect(await expensivePlans(named, (filters) => ofAll(log.user, filters), isTooMuch)).toEqual([]);
    await database.query('delete from webhook_service.stopping_webhooks');
  });

  it('rows beyond the reach of a single page are found by following its cursors', async () => {
    const service = app.get(DeliveryLogService);
    const found: string[] = [];
    const cursors: (string | null)[] = [];
    do {
      const cursor = cursors.at(-1) ?? undefined;
      const page = await service.list(
        as(log.user),
        log.loud,
        { limit: LIMIT, cursor, event: 'operation.failed' },
        SIGNAL,
      );
      found.push(...page.items.map(({ id }) => id));
      cursors.push(page.nextCursor);
    } while (cursors.at(-1) !== null);
    expect(new Set(found).size).toBe(RARE);
    const none = await service.list(as(log.user), log.loud, { limit: LIMIT, responseStatus: '299' }, SIGNAL);
    expect([none.items, none.nextCursor]).toEqual([[], expect.any(String)]);
  });

  it('the deliveries of one event are read within the cost limits', async () => {
    const combinations = product([['eventId', { eventId: log.eventId }]], STATUSES);
    expect(await expensivePlans(combinations, (filters) => ofWebhook(log.loud, filters))).toEqual([]);
    expect(await expensivePlans(combinations, (filters) => ofAll(log.user, filters))).toEqual([]);
  });

  it('a page stays within the limits for webhooks and users with few deliveries or none', async () => {
    const combinations = product(STATUSES, EVENTS, times);
    const isTooMuch = ({ looked }: Plan) => looked > MAX_LOOKED;
    expect(await expensivePlans(combinations, (filters) => ofWebhook(log.quiet, filters), isTooMuch)).toEqual([]);
    expect(await expensivePlans(combinations, (filters) => ofAll(log.listener, filters))).toEqual([]);
    expect(await expensivePlans(combinations, (filters) => ofAll(log.newcomer, filters))).toEqual([]);
  });

  it.each(['user', 'publisher', 'listener', 'newcomer'] as const)(
    'a page of events stays within the cost limits for the %s',
    async (who) => {
      const combinations = product([...EVENTS, ...SUBJECTS], times);
      // The events of the user, those that it published for others, and those of its deliveries.
      const isTooMuch = ({ pages, looked, scanned }: Plan) =>
        pages > 3 * MAX_PAGES || looked > MAX_LOOKED + 3 * LIMIT || scanned > MAX_SORTED;
      expect(await expensivePlans(combinations, (filters) => ofEvents(log[who], filters), isTooMuch)).toEqual([]);
      const both = product(EVENTS.slice(1), SUBJECTS, times);
      const isBeyond = ({ looked, scanned }: Plan) => looked > MAX_LOOKED + 3 * LIMIT || scanned > MAX_SORTED;
      expect(await expensivePlans(both, (filters) => ofEvents(log[who], filters), isBeyond)).toEqual([]);
    },
  );

  it('a search for a subject reads no day before the upgrade', async () => {
    const plansOf = async () => [
      ...(await ofAll(log.user, { subject: 'common', status: ['canceled'] })),
      ...(await ofEvents(log.user, { subject: 'common', event: 'operation.failed' })),
    ];
    const lookedAt = (plans: Plan[]) => plans.map(({ looked }) => looked);
    const before = lookedAt(await plansOf());
    const tomorrow = lowestIdOf(Date.now() + DAY_MS);
    await database.query('update webhook_service.installation set subjects_from = $1', [tomorrow]);
    const after = lookedAt(await plansOf());
    await database.query('update webhook_service.installation set subjects_from = $1', [BEFORE_ALL_IDS]);
    expect(Math.max(...before)).toBeGreaterThan(1000);
    // The row with the day of the upgrade is read, too.
    expect(Math.max(...after)).toBeLessThan(10);
  });

  it('the log contains the expected number of rare rows', async () => {
    const rare = product(STATUSES, EVENTS, TRIGGERS).filter(([name]) =>
      / of few|redelivery|test|pending|canceled/.test(name),
    );
    expect(rare.length).toBeGreaterThan(RARE);
    const page = await app
      .get(DeliveryLogService)
      .list(as(log.user), log.loud, { limit: LIMIT, event: 'operation.failed' }, SIGNAL);
    expect(page.items).toHaveLength(RARE);
  });
});
