import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import { RecoveriesService } from '../../../../src/deliveries/recovery/recoveries.service';
import { DAY_MS } from '../../../../src/infrastructure/config/durations';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { startApplication, stopApplication } from '../../stage/application';
import { makeDays } from '../../stage/long-log';
import { type Plan, planOf, statementsAbout } from '../../stage/plans';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { waitFor } from '../../../support/wait-for';

const FEW = 10_000;
/** EVENTS=1000000 looks at as many. */
const MANY = Number(process.env.EVENTS ?? 100_000);
/** Of each event that a page looks at: itself, its newest and its pending delivery, and the pause in which it was missed. */
const MAX_LOOKED = 4 * 1000;
/** With ten times as many events an index is a level deeper. */
const AT_MOST = 1.7;
const SINCE = new Date(Date.now() - 29 * DAY_MS);

/** Of each five events one is the user's own, and one has a name to which the webhook is not subscribed. */
const INSERT_EVENTS = `
  insert into webhook_service.events (id, name, user_id, publisher_id, body, accepted_at, fanned_out_at, leased_until)
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid,
         (array['job.started', 'job.completed', 'job.started', 'follower.gained', 'job.completed'])[1 + n % 5],
         case when n % 5 = 0 then 'ada' end, 'gateway', '{}', at, at, at
  from (select n, now() - interval '28 days' * n / $1::float8 as at from generate_series(1, $1::int) as n) as event`;

describe.each<[string, string[]]>([
  ['everything', ['*']],
  ...(process.env.LONG === '1' ? [['a pattern', ['job.*']] as [string, string[]]] : []),
  ['two names', ['job.started', 'job.completed']],
])('A webhook that subscribes to %s', (_, events) => {
  it(`looks at as many rows and pages of a month with ${MANY} events as of one with ${FEW}`, async () => {
    const [few, many] = [await costsOf(FEW, events), await costsOf(MANY, events)];
    for (const { looked } of [...few, ...many]) expect(looked).toBeLessThanOrEqual(MAX_LOOKED);
    const most = (plans: Plan[]) => Math.max(...plans.map(({ pages }) => pages));
    expect(most(many)).toBeLessThanOrEqual(most(few) * AT_MOST);
  }, 600_000);
});

it('A webhook reads no events of names to which it does not subscribe', async () => {
  await withEvents(MANY, async (app, userId) => {
    const { webhook } = await app
      .get(WebhooksService)
      .create(userId, { url: 'https://a.example/', events: ['operation.*'] });
    const recoveries = app.get(RecoveriesService);
    const count = () => recoveries.count(userId, webhook.id, { since: SINCE });
    expect(await count()).toEqual({ count: 0, complete: true });
    for (const { looked } of await plansOf(app, count)) expect(looked).toBeLessThanOrEqual(2 * 3 * 31);
    expect(await recoveries.start(userId, webhook.id, { since: SINCE })).toMatchObject({ status: 'done', count: 0 });
  });
}, 600_000);

/** Returns the plans of the statements that count missed events, and that take the first step of their recovery. */
function costsOf(number: number, events: string[]): Promise<Plan[]> {
  return withEvents(number, async (app, userId, database) => {
    const { webhook } = await app.get(WebhooksService).create(userId, { url: 'https://a.example/', events });
    // It was there, and inactive, for the whole month.
    await database.query(`update webhook_service.webhooks set created_at = now() - interval '60 days'`);
    await database.query(
      `insert into webhook_service.webhook_pauses (webhook_id, started_at, ended_at)
       values ($1, now() - interval '60 days', now())`,
      [webhook.id],
    );
    const recoveries = app.get(RecoveriesService);
    const plans = await plansOf(app, () => recoveries.count(userId, webhook.id, { since: SINCE }));
    const { count, complete } = await recoveries.count(userId, webhook.id, { since: SINCE });
    const missed = events[0] === '*' ? number : (number * 4) / 5;
    // A busy machine may not look at the few events within half a second. A count never looks at more than 10,000.
    if (complete) expect([count, missed]).toEqual([missed, Math.min(missed, FEW)]);
    const firstStep = async () => {
      const { id } = await recoveries.start(userId, webhook.id, { since: SINCE });
      const isQueued = async () => (await recoveries.read(userId, webhook.id, id)).queued > 0;
      await waitFor(isQueued, { what: 'the first step' });
    };
    return [...plans, ...(await plansOf(app, firstStep))];
  });
}

async function withEvents<T>(
  number: number,
  use: (app: NestFastifyApplication, userId: string, database: TestDatabase) => Promise<T>,
): Promise<T> {
  const database = await cloneDatabase();
  await makeDays(database, new Date());
  await database.query(INSERT_EVENTS, [number]);
  const app = await startApplication(database.url, [], { ROLE: 'api' });
  try {
    return await use(app, 'ada', database);
  } finally {
    await stopApplication(app);
    await database.drop();
  }
}

/** Returns the plans of the statements of an action that read events. */
async function plansOf(app: NestFastifyApplication, action: () => Promise<unknown>): Promise<Plan[]> {
  const dataSource = app.get(DataSource);
  const sent = await statementsAbout('events', dataSource, action);
  const plans: Plan[] = [];
  // A statement that inserts rows runs once more.
  await dataSource.query('delete from webhook_service.deliveries');
  for (const statement of sent) plans.push(await planOf(dataSource, statement));
  expect(plans).not.toEqual([]);
  return plans;
}
