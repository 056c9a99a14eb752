import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { v7 } from 'uuid';
import { DayTablesRepository } from '../../../../src/infrastructure/database/day-tables.repository';
import { lowestIdOf } from '../../../../src/infrastructure/database/id-time';
import { dayPartitions } from '../../../../src/infrastructure/database/partitions';
import { RetentionService } from '../../../../src/deliveries/retention/retention.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { startApplication, stopApplication } from '../../stage/application';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { DAY_MS } from '../../../../src/infrastructure/config/durations';

const RETENTION_DAYS = 30;
/** A day is dropped one day after the last of its events is past retention. */
const OLD_DAYS = [-34, -33, -32];
const KEPT_DAYS = [-31, -RETENTION_DAYS, -29];

describe('Retention', () => {
  let database: TestDatabase;
  let app: NestFastifyApplication;

  beforeAll(async () => {
    database = await cloneDatabase();
    app = await startApplication(database.url, []);
    // Without a delivery for a day, retention would distrust the clock.
    await deliveryOf(0.5, 0.5, 'succeeded');
  });
  afterAll(async () => {
    await stopApplication(app);
    await database.drop();
  });
  beforeEach(async () => {
    for (const table of ['events', 'deliveries'] as const) {
      for (const day of [...OLD_DAYS, ...KEPT_DAYS]) await makeDay(table, day);
    }
  });

  async function makeDay(table: 'events' | 'deliveries', day: number): Promise<void> {
    const [{ name, from, to }] = dayPartitions(table, new Date(), day, day) as [ReturnType<typeof dayPartitions>[0]];
    await database.query(
      `create table if not exists webhook_service.${name} partition of webhook_service.${table}
       for values from ('${from}') to ('${to}')`,
    );
  }

  /** Inserts an event and its delivery, each the given number of days ago. */
  async function deliveryOf(eventDaysAgo: number, daysAgo: number, status: string): Promise<string> {
    const [eventId, id] = [eventDaysAgo, daysAgo].map((days) => v7({ msecs: Date.now() - days * DAY_MS }));
    await database.query(
      `insert into webhook_service.events (id, name, body, fanned_out_at) values ($1, 'job.started', '{}', now())`,
      [eventId],
    );
    await database.query(
      `insert into webhook_service.deliveries
         (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until)
       values ($1, $2, 'someone', $3, 'job.started', 'https://example.com', 1, 'event', $4, now(), now() + interval '1 hour')`,
      [id, randomUUID(), eventId, status],
    );
    return id as string;
  }

  async function daysOf(table: string): Promise<number[]> {
    const today = Math.floor(Date.now() / DAY_MS);
    const rows = await database.query<{ name: string }>(
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'webhook_service' and c.relkind = 'r' and c.relname like $1`,
      [`${table}\\_p%`],
    );
    const dayOf = (name: string) => Date.parse(name.slice(-8).replace(/(\d{4})(\d\d)(\d\d)/, '$1-$2-$3')) / DAY_MS;
    return rows
      .map(({ name }) => dayOf(name) - today)
      .filter((day) => day < -1)
      .sort((a, b) => a - b);
  }

  const apply = () => app.get(RetentionService).apply();
  /** One run for each day that may be dropped, and one for all other expired rows. */
  const applyAll = async () => {
    for (let i = 0; i <= OLD_DAYS.length; i++) await apply();
  };
  const exists = async (id: string) =>
    (await database.query('select from webhook_service.deliveries where id = $1', [id])).length > 0;

  it('drops expired days of events and deliveries, one per run, and no others', async () => {
    const old = await deliveryOf(33, 33, 'succeeded');
    const young = await deliveryOf(31, 31, 'succeeded');
    for (const left of [[-33, -32, ...KEPT_DAYS], [-32, ...KEPT_DAYS], KEPT_DAYS]) {
      await apply();
      expect(await daysOf('events')).toEqual(left);
      expect(await daysOf('deliveries')).toEqual(left);
    }
    await apply();
    expect(await daysOf('events')).toEqual(KEPT_DAYS);
    expect(await daysOf('deliveries')).toEqual(KEPT_DAYS);
    expect(await exists(old)).toBe(false);
    expect(await exists(young)).toBe(true);
  });

  it('cancels what is pending when its event is past retention, and drops its day like any other', async () => {
    const [old, late, young] = [
      await deliveryOf(34, 34, 'pending'),
      await deliveryOf(31, 0.1, 'pending'),
      await deliveryOf(29.5, 29.5, 'pending'),
    ];
    await apply();
    expect(await exists(old)).toBe(false);
    const rows = await database.query(
      `select id, status, error_code as "error", completed_at is not null as "isCompleted" from webhook_service.deliveries
       where id = any($1)`,
      [[late, young]],
    );
    expect(rows).toHaveLength(2);
    expect(rows).toContainEqual({ id: late, status: 'canceled', error: 'expired', isCompleted: true });
    expect(rows).toContainEqual({ id: young, status: 'pending', error: null, isCompleted: false });
    // Counted like every other cancellation.
    const [counts] = await database.query<{ count: number }>(
      `select sum(count)::int as count from (
         select count, error_code from webhook_service.recent_attempts
         union all select count, error_code from webhook_service.attempt_counts where minutes = 5) as c
       where error_code = 'expired'`,
    );
    expect(counts!.count).toBe(2);
    await applyAll();
    expect(await daysOf('events')).toEqual(KEPT_DAYS);
    expect(await daysOf('deliveries')).toEqual(KEPT_DAYS);
  });

  it('deletes recoveries that ended before it, and counts of webhooks and users', async () => {
    const daysAgo = (days: number) => `now() - interval '${days} days'`;
    const { webhook } = await app.get(WebhooksService).create('ada', { kind: 'pull', events: ['job.started'] });
    const recovery = (completedAt: string) => `
      insert into webhook_service.recoveries
        (id, webhook_id, user_id, status, count, first_id, until_id, cursor, created_at, completed_at)
      select gen_random_uuid(), id, user_id, case when ${completedAt} is null then 'running' else 'done' end, 0, id, id, id,
             ${daysAgo(40)}, ${completedAt}
      from webhook_service.webhooks where id = '${webhook.id}'`;
    for (const completedAt of [daysAgo(35), daysAgo(29), 'null::timestamptz'])
      await database.query(recovery(completedAt));
    for (const days of [35, 29]) {
      const counts = `5, 'failed', ${daysAgo(days)}, 'timeout', 1, 1`;
      await database.query(`insert into webhook_service.attempt_counts values (gen_random_uuid(), 'ada', ${counts})`);
      await database.query(`insert into webhook_service.user_attempt_counts values ('ada', ${counts})`);
    }
    await applyAll();
    const left = (table: string, at: string) =>
      database.query(
        `select ${at} > ${daysAgo(30)} as kept from webhook_service.${table} where user_id = 'ada' order by 1`,
      );
    expect(await left('recoveries', 'completed_at')).toEqual([{ kept: true }, { kept: null }]);
    expect(await left('attempt_counts', 'at')).toEqual([{ kept: true }]);
    expect(await left('user_attempt_counts', 'at')).toEqual([{ kept: true }]);
  });

  it('leaves an attempt that is being made', async () => {
    const id = await deliveryOf(31, 31, 'pending');
    await database.query('update webhook_service.deliveries set claimed = true where id = $1', [id]);
    await apply();
    const status = () => database.query('select status from webhook_service.deliveries where id = $1', [id]);
    expect(await status()).toEqual([{ status: 'pending' }]);
    await database.query('update webhook_service.deliveries set claimed = false where id = $1', [id]);
    await apply();
    expect(await status()).toEqual([{ status: 'canceled' }]);
  });

  it('keeps no day for an event that was never fanned out', async () => {
    await database.query(
      `insert into webhook_service.events (id, name, body, leased_until)
       values ($1, 'job.started', '{}', now() + interval '1 hour')`,
      [v7({ msecs: Date.now() - 33 * DAY_MS })],
    );
    await applyAll();
    expect(await daysOf('events')).toEqual(KEPT_DAYS);
  });

  it('finishes dropping a day after an interruption', async () => {
    const [first] = dayPartitions('events', new Date(), -34, -34);
    await database.query(
      `alter table webhook_service.events detach partition webhook_service.${first?.name} concurrently`,
    );
    await applyAll();
    expect(await daysOf('events')).toEqual(KEPT_DAYS);
  });

  it('deletes expired idempotency keys', async () => {
    await database.query(
      `insert into webhook_service.event_keys (publisher_id, key, event_id, fingerprint, created_at)
       select 'someone', n::text, gen_random_uuid(), '', now() - n * interval '10 days' from generate_series(1, 5) as n`,
    );
    await applyAll();
    const rows = await database.query<{ key: string }>('select key from webhook_service.event_keys order by key');
    expect(rows.map(({ key }) => key)).toEqual(['1', '2']);
  });

  it('deletes webhook pauses that ended before the retention period', async () => {
    const [webhook] = await database.query<{ id: string }>(
      `insert into webhook_service.webhooks (id, user_id, url, events, secret)
       values (gen_random_uuid(), 'someone', 'http://127.0.0.1:9/', '{*}', '') returning id`,
    );
    await database.query(
      `insert into webhook_service.webhook_pauses (webhook_id, started_at, ended_at)
       select $1, now() - n * interval '10 days', case when n < 5 then now() - n * interval '10 days' end
       from generate_series(1, 5) as n`,
      [webhook?.id],
    );
    await applyAll();
    const rows = await database.query<{ days: number }>(
      'select (extract(epoch from now() - started_at) / 86400)::int as days from webhook_service.webhook_pauses order by 1',
    );
    expect(rows.map(({ days }) => days)).toEqual([10, 20, 50]);
  });

  it('deletes jobs of monitored queues not seen for the retention period and for 30 days', async () => {
    await database.query(
      `insert into webhook_service.queue_jobs (queue, job_id, user_is, noted_at)
       select 'redis bull:mail', n::text, 'none', now() - n * interval '10 days' from generate_series(1, 5) as n`,
    );
    await applyAll();
    const rows = await database.query<{ id: string }>('select job_id as id from webhook_service.queue_jobs order by 1');
    expect(rows.map(({ id }) => id)).toEqual(['1', '2']);
  });

  it('deletes at most one day of other rows in a run that drops a day', async () => {
    await database.query('delete from webhook_service.event_keys');
    await database.query(
      `insert into webhook_service.event_keys (publisher_id, key, event_id, fingerprint, created_at)
       select 'someone', n::text, gen_random_uuid(), '', now() - n * interval '1 day' from generate_series(31, 34) as n`,
    );
    const counts: (number | undefined)[] = [];
    for (let i = 0; i < 4; i++) {
      await apply();
      const [row] = await database.query<{ n: number }>('select count(*)::int as n from webhook_service.event_keys');
      counts.push(row?.n);
    }
    expect(counts).toEqual([3, 2, 1, 0]);
  });

  it('runs in one process at a time', async () => {
    const days = app.get(DayTablesRepository);
    await days.alone(async () => {
      await apply();
      expect(await daysOf('events')).toEqual([...OLD_DAYS, ...KEPT_DAYS]);
    });
    await applyAll();
    expect(await daysOf('events')).toEqual(KEPT_DAYS);
  });
});

describe('Retention after a clock jump', () => {
  let database: TestDatabase;
  let app: NestFastifyApplication;
  const keysLeft = async () => (await database.query('select from webhook_service.event_keys')).length;
  const daysLeft = async () =>
    (await database.query(`select from pg_tables where tablename in ('events_p20200101', 'events_p20200102')`)).length;

  beforeAll(async () => {
    database = await cloneDatabase();
    app = await startApplication(database.url, []);
    for (const [day, next] of [
      ['2020-01-01', '2020-01-02'],
      ['2020-01-02', '2020-01-03'],
    ] as const) {
      const [from, to] = [day, next].map((time) => lowestIdOf(Date.parse(time)));
      await database.query(
        `create table webhook_service.events_p${day.replaceAll('-', '')} partition of webhook_service.events
         for values from ('${from}') to ('${to}')`,
      );
    }
    await database.query(
      `insert into webhook_service.event_keys (publisher_id, key, event_id, fingerprint, created_at)
       values ('someone', 'k', gen_random_uuid(), '', '2020-01-02T12:00:00Z')`,
    );
    // Published after the jump.
    await database.query(
      `insert into webhook_service.events (id, name, body, fanned_out_at) values ($1, 'job.started', '{}', now())`,
      [v7()],
    );
  });
  afterAll(async () => {
    await stopApplication(app);
    await database.drop();
  });

  it('drops nothing until a run an hour later confirms the time, and then one day', async () => {
    const retention = app.get(RetentionService);
    for (let i = 0; i < 3; i++) await retention.apply();
    expect([await daysLeft(), await keysLeft()]).toEqual([2, 1]);
    const realNow = performance.now.bind(performance);
    const inAnHour = jest.spyOn(performance, 'now').mockImplementation(() => realNow() + 3_600_000);
    await retention.apply();
    inAnHour.mockRestore();
    expect([await daysLeft(), await keysLeft()]).toEqual([1, 1]);
  });
});
