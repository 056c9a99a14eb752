import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Type } from '@nestjs/common';
import { MetricsService } from '../../../src/infrastructure/metrics/metrics.service';
import { type Belongings, DECLARED_TYPE, queryOf, routeRequest, ROUTES } from '../../e2e/stage/route-requests';
import { ordinaryPostgresBin } from '../../../scripts/ordinary-postgres.cjs';
import { Api, dataOf, exchange } from '../../support/api';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { startPostgres } from '../../support/postgres-server';
import { HOUR_MS } from '../../../src/infrastructure/config/durations';
import { describeLong } from '../../support/online';
import { describeWhereInstalled } from '../../support/programs';
import { startIdleApplication } from '../stage/application';
import { grow, MAX_WEBHOOKS } from '../stage/large-user';

// Fills a database twice, which takes a minute on a machine without other work.

const FEW = 10_000;
const MANY = 100_000;
/** With ten times as many rows an index is a level deeper, and a statement meets more dead and changed rows. */
const AT_MOST = { ratio: 1.7, pages: 100, rows: 20 };
/** A row that an index has no place for looks up the rows of the entries beside it, of which some may be dead. */
const PAGES_OF_INSERT = 400;
const WITHIN_MS = 1000;
const USER = 'ada';
const SCOPES = [
  ...['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish', 'events:broadcast'],
  ...['messages:pull', 'accounts:manage', 'tokens:manage', 'event-types:manage', 'users:erase'],
];

/** Statements that read more when there is more. The title is of a route or a loop. */
const EXCEPTIONS: readonly { title: RegExp; sql: RegExp; why: string }[] = [
  {
    title: /followers$/,
    sql: /_followers/,
    why: 'replaces a list of at most 100,000 followers, which the request holds',
  },
  { title: /^DELETE .*webhooks/, sql: /delete from .*webhooks/i, why: 'deletes pauses, one a minute' },
  { title: /^Retention/, sql: /attempt_counts/, why: 'a BRIN index, which only a vacuum fills' },
  { title: /^Retention/, sql: /webhook_pauses/, why: 'one pause a minute and webhook; read once an hour' },
];

/** A query parameter that reads other rows, and its value. Others narrow a list down; see log-plans.spec.ts. */
const QUERY: Record<string, string> = {
  ...{ q: 'number 17', metadata: 'n:17', active: 'true', event: 'job.started', subject: 'invoice/1', include: 'stats' },
};

const SRC = join(__dirname, '../../../src');
const SOURCES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
  .map((path) => ({ path, text: readFileSync(join(SRC, path), 'utf8') }));

/** Class and method of everything that a `Repeat` runs. */
const LOOPS = SOURCES.flatMap(({ path, text }) =>
  [...text.matchAll(/new Repeat\(\s*\(\) => this\.(\w+)\(/g)].map(({ 1: method, index }) => {
    const [, name] = [...text.slice(0, index).matchAll(/export class (\w+)/g)].at(-1)!;
    return { path, name: name!, method: method! };
  }),
);
/** Loops that read no table. */
const WITHOUT_TABLES = ['QueueReaderClient'];

interface Cost {
  sql: string;
  calls: number;
  /** Pages that a call read, from memory or from disk. */
  pages: number;
  /** Rows that a call returned or changed. */
  rows: number;
}

interface Measured {
  costs: Cost[];
  status: number | null;
  ms: number;
}

const SERVER = join(ordinaryPostgresBin() ?? '/usr/lib/postgresql/15/bin', 'postgres');
describeWhereInstalled(SERVER, 'A statement', () => {
  let stopServer: () => Promise<void>;
  beforeAll(async () => {
    stopServer = await startPostgres(true, undefined, {
      shared_preload_libraries: 'pg_stat_statements',
      'pg_stat_statements.track_utility': 'off',
      autovacuum: 'off',
    });
  });
  afterAll(() => stopServer());

  it(`of a route or loop reads as much for a user with ${MANY} rows of everything as for one with ${FEW}`, async () => {
    const [few, many] = [await measureAll(FEW), await measureAll(MANY)];
    const known = [...few.values()].flatMap(({ costs }) => costs);
    const used = new Set<object>();
    const found = [...many].flatMap(([title, { costs }]) =>
      costs.flatMap((cost) => {
        // What a request leaves to be done afterwards may be measured with another one.
        const before =
          few.get(title)?.costs.find(({ sql }) => sql === cost.sql) ?? known.find(({ sql }) => sql === cost.sql);
        const [pages, rows] = [before?.pages ?? 0, before?.rows ?? 0];
        const { ratio } = AT_MOST;
        const most = pages * ratio + (/^\s*insert/i.test(cost.sql) ? PAGES_OF_INSERT : AT_MOST.pages);
        if (cost.pages <= most && cost.rows <= rows * ratio + AT_MOST.rows) return [];
        const exception = EXCEPTIONS.find((one) => one.title.test(title) && one.sql.test(cost.sql));
        if (exception) used.add(exception);
        const sql = cost.sql.replace(/\s+/g, ' ').slice(0, 500);
        return exception ? [] : [`${title}: ${pages} -> ${cost.pages} pages, ${rows} -> ${cost.rows} rows: ${sql}`];
      }),
    );
    expect(found).toEqual([]);
    expect(EXCEPTIONS.filter((one) => !used.has(one))).toEqual([]);
    // A request sends as many statements, too.
    const callsOf = (measured?: Measured) => (measured?.costs ?? []).reduce((sum, { calls }) => sum + calls, 0);
    const more = ROUTES.filter(
      (route) => callsOf(many.get(route)) > callsOf(few.get(route)) * AT_MOST.ratio + AT_MOST.rows,
    );
    expect(more).toEqual([]);
  });

  describeLong('with a million rows of everything', () => {
    it('lets a route answer within a second', async () => {
      const slow = [...(await measureAll(1_000_000))].filter(([, { status, ms }]) => status !== null && ms > WITHIN_MS);
      const isExpected = (title: string) => EXCEPTIONS.some((one) => one.title.test(title));
      expect(slow.filter(([title]) => !isExpected(title)).map(([title, { ms }]) => `${title}: ${ms} ms`)).toEqual([]);
    }, 3_600_000);
  });
});

/** Measures every route, loop and gauge for a user with so many rows, and others with as many. */
async function measureAll(rows: number): Promise<Map<string, Measured>> {
  const database = await cloneDatabase();
  await database.query('create extension pg_stat_statements');
  const app = await startIdleApplication(database.url, [], { MAX_WEBHOOKS_PER_USER: String(MAX_WEBHOOKS) });
  try {
    await app.listen(0, '127.0.0.1');
    const api = new Api(await app.getUrl(), await insertToken(database));
    const own = await furnish(api, database, rows);
    const measured = new Map<string, Measured>();
    const measure = async (title: string, act: () => Promise<unknown>) => {
      await database.query('select pg_stat_statements_reset()');
      const begunAt = performance.now();
      const answer = (await act()) as { status?: number } | undefined;
      const ms = Math.round(performance.now() - begunAt);
      measured.set(title, { costs: await costsNow(database), status: answer?.status ?? null, ms });
    };
    const request = (route: string, query = '') => {
      const { method, path, body } = routeRequest(route, own);
      return api.call<unknown>(method, path + query, { body });
    };
    const isDeletion = (route: string) => route.startsWith('DELETE');
    for (const route of ROUTES.filter((one) => !isDeletion(one))) {
      await measure(route, () => request(route));
      if (!route.startsWith('GET')) continue;
      for (const [name, value] of Object.entries(QUERY).filter(([name]) => queryOf(route).includes(name)))
        await measure(`${route}?${name}`, () => request(route, `?${name}=${encodeURIComponent(value)}`));
    }
    // Before the sweep: a scrape counts what it would take.
    await measure('a scrape', () => app.get(MetricsService).text());
    for (const { path, name, method } of LOOPS.filter(({ name }) => !WITHOUT_TABLES.includes(name))) {
      const type = ((await import(join(SRC, path))) as Record<string, Type>)[name]!;
      const loop = app.get<Record<string, () => Promise<unknown>>>(type, { strict: false });
      await measure(`${name}.${method}`, async () => loop[method]!());
    }
    await measure('readiness', () => exchange(api.url, 'GET', '/health/ready'));
    await measure('PATCH /api/webhooks/{id} to inactive', () => api.updateWebhook(own.push.id, { active: false }));
    for (const route of ROUTES.filter(isDeletion)) await measure(route, () => request(route));
    const failed = [...measured].filter(([, { status }]) => status !== null && status >= 500);
    expect(failed).toEqual([]);
    return measured;
  } finally {
    await app.close();
    await database.drop();
  }
}

/** Gives a user one of everything over the API, and this many rows of everything. */
async function furnish(api: Api, database: TestDatabase, rows: number): Promise<Belongings> {
  const hook = { url: 'http://127.0.0.1:9/', events: ['job.*'] };
  const push = await dataOf(api.createWebhook({ ...hook, externalId: 'a' }), 201);
  await dataOf(api.createWebhook({ ...hook, externalId: 'b' }), 201);
  const pull = await dataOf(api.createWebhook({ kind: 'pull', events: ['job.completed'] }), 201);
  const account = await dataOf(api.createAccount({ provider: 'push', handle: 'x' }), 201);
  const token = await dataOf(api.createToken({ name: 'x', scopes: ['webhooks:read'] }), 201);
  await dataOf(api.createEventType({ name: 'shop.opened', ...DECLARED_TYPE }), 201);
  const ids = { userId: USER, push: push.id, pull: pull.id, account: account.id, token: token.id };
  const large = await grow(database, rows, ids);
  return {
    ...{ push, failing: push, pull, account, token, messages: await dataOf(api.lease(pull.id, {})) },
    event: { id: large.event, createdAt: new Date(Date.now() - HOUR_MS).toISOString() },
    ...{ delivery: { id: large.delivery }, failed: { id: large.failed }, recovery: { id: large.recovery } },
    ...{ erasureId: large.erasure, type: 'shop.opened', user: 'erin' },
  };
}

function costsNow(database: TestDatabase): Promise<Cost[]> {
  return database.query<Cost & Record<string, unknown>>(`
    select query as sql, sum(calls)::int as calls,
           (sum(shared_blks_hit + shared_blks_read) / sum(calls))::int as pages, (sum(rows) / sum(calls))::int as rows
    from pg_stat_statements s join pg_database d on d.oid = s.dbid and d.datname = current_database()
    where query !~ 'pg_stat_statements' group by 1`);
}

async function insertToken(database: TestDatabase): Promise<string> {
  const token = `wns_${'A'.repeat(43)}`;
  await database.query(
    `insert into webhook_service.access_tokens (id, user_id, name, token_hash, scopes)
     values (gen_random_uuid(), $1, 'a test', sha256($2::bytea), $3)`,
    [USER, token, SCOPES],
  );
  return token;
}
