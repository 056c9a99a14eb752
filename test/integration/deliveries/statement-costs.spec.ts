import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../../src/infrastructure/database/data-source.setup';
import { ordinaryPostgresBin } from '../../../scripts/ordinary-postgres.cjs';
import { cloneDatabase } from '../../support/postgres';
import { startPostgres } from '../../support/postgres-server';
import { BusyDay } from '../stage/busy-day';
import { hotStatements } from '../stage/hot-statements';
import { type Cost, measure } from '../stage/measured-connection';

const FEW = 1000;
const MANY = 100_000;
const BACKLOG = 2000;
/**
 * Only the cheapest of these calls counts: index entries that have just died are read once more, and again while an
 * older transaction is open in any database of the server. For the same reason this file starts a server of its own.
 */
const CALLS = 3;
/** With a hundred times as many rows an index is a level deeper, and a changed row is added to up to eight of them. */
const AT_MOST = 1.7;
/** Looks each event up by its id, and the row of its delivery: little else, and both indexes are a level deeper. */
const AT_MOST_OF: Readonly<Record<string, number>> = { 'claims new events': 1.75 };

/** CI uses the one that users run, where it is installed, and both with LONG=1. */
const SERVERS = [
  ...(ordinaryPostgresBin() && process.env.TESTS === 'rest' && process.env.LONG !== '1'
    ? []
    : ['the embedded PostgreSQL']),
  ...(ordinaryPostgresBin() ? ['an ordinary PostgreSQL'] : []),
];
/** What PostgreSQL's planner knows about the day when it plans, and whether it learns more. */
const KNOWN = ['nothing', 'that it is empty', 'everything'] as const;

describe.each(SERVERS)('On %s', (server) => {
  let stopServer: () => Promise<void>;
  beforeAll(async () => {
    stopServer = await startPostgres(server === 'an ordinary PostgreSQL');
  });
  afterAll(() => stopServer());

  describe.each(KNOWN)('a statement that was planned on an empty partition when PostgreSQL knows %s', costsAlike);
});

function costsAlike(known: (typeof KNOWN)[number]): void {
  const costs = new Map<string, { few: Cost[]; many: Cost[] }>();

  beforeAll(async () => {
    const [few, many] = [await costsOf(FEW, known), await costsOf(MANY, known)];
    for (const [title, cost] of few) costs.set(title, { few: cost, many: many.get(title) ?? [] });
  });

  it(`reads as many pages with ${MANY} rows as with ${FEW} on a day that was never vacuumed`, () => {
    const ratios = [...costs].map(([title, { few, many }]) => ({ title, few: pagesOf(few), many: pagesOf(many) }));
    expect(ratios.filter(({ few }) => few === 0)).toEqual([]);
    expect(ratios.filter(({ title, few, many }) => many > few * (AT_MOST_OF[title] ?? AT_MOST))).toEqual([]);
  });

  it('is never JIT-compiled', () => {
    const all = [...costs.values()].flatMap(({ few, many }) => [...few, ...many]);
    expect(all.filter(({ compiled }) => compiled > 0).map(({ sql }) => sql)).toEqual([]);
  });
}

/** Returns the cost of each statement on a day with that many rows, with the plan that the connection really uses. */
async function costsOf(rows: number, known: (typeof KNOWN)[number]): Promise<Map<string, Cost[]>> {
  const database = await cloneDatabase();
  const dataSource = new DataSource(dataSourceOptions(database.url, 1));
  try {
    await dataSource.initialize();
    const measured = await measure((dataSource.driver as unknown as { master: Pool }).master);
    const day = new BusyDay(database);
    await day.begin(dataSource);
    if (known === 'that it is empty') await day.analyze();
    const statements = Object.entries(hotStatements(dataSource, day));
    for (const [, prepare] of statements) await (await prepare())();
    await day.clear();
    await day.growTo(rows, BACKLOG);
    if (known === 'everything') await day.analyze();
    const costs = new Map<string, Cost[]>();
    for (const [title, prepare] of statements) {
      const calls: Cost[][] = [];
      for (let call = 1; call <= CALLS; call++) calls.push(await measured(await prepare()));
      costs.set(
        title,
        calls.reduce((least, cost) => (pagesOf(cost) < pagesOf(least) ? cost : least)),
      );
    }
    return costs;
  } finally {
    await dataSource.destroy();
    await database.drop();
  }
}

const pagesOf = (costs: readonly Cost[]): number => costs.reduce((sum, { pages }) => sum + pages, 0);
