import { randomUUID } from 'node:crypto';
import { BEFORE_ALL_IDS } from '../../../src/infrastructure/database/id-time';
import { dayPartitions } from '../../../src/infrastructure/database/partitions';
import type { TestDatabase } from '../../support/postgres';
import { DAY_MS } from '../../../src/infrastructure/config/durations';

const DAYS = 30;

/** The number of rows of each rare kind in a long log: fewer than a page, so that a page has to search for more. */
export const RARE = 10;

/** A delivery log of thirty days, and the events that it is about. */
export interface LongLog {
  /** Owns the three webhooks. */
  user: string;
  /** Nearly all of its deliveries succeeded, and nearly all are `follower.gained`. */
  loud: string;
  /** Nearly all of its deliveries failed. */
  broken: string;
  /** Has twice as many rows as a rare kind, over all thirty days. */
  quiet: string;
  /** Publishes for others. */
  publisher: string;
  /** Gets only the events to all users, which are rare. */
  listener: string;
  /** Has nothing. */
  newcomer: string;
  /** An event of the loud webhook's from the middle of the log. */
  eventId: string;
  /** Times in the middle, an hour of the log apart. */
  window: { since: Date; until: Date };
}

/** Fills an empty database with a log of that many rows, a multiple of 1,000. */
export async function writeLongLog(database: TestDatabase, rows: number): Promise<LongLog> {
  const [loud, broken, quiet, listening] = Array.from({ length: 4 }, () => randomUUID()) as [string, ...string[]];
  const now = Date.now();
  await makeDays(database, new Date(now));
  // All of these days have the same indexes.
  await database.query(`update webhook_service.installation set subjects_from = '${BEFORE_ALL_IDS}'`);
  await database.query(INSERT_WEBHOOKS, [[loud, broken, quiet], 'owner']);
  await database.query(INSERT_WEBHOOKS, [[listening], 'listener']);
  const beganAt = now - (DAYS - 1) * DAY_MS;
  await database.query(INSERT_EVENTS, [rows, beganAt, now]);
  await database.query(INSERT_DELIVERIES, [rows, loud, broken, quiet]);
  await database.query(INSERT_BROADCASTS, [listening]);
  await database.query('vacuum (analyze) webhook_service.events, webhook_service.deliveries, webhook_service.webhooks');
  const middle = beganAt + (now - beganAt) / 2;
  const [event] = await database.query<{ id: string }>(MIDDLE_EVENT, [loud, rows / 2]);
  return {
    user: 'owner',
    loud,
    broken: broken!,
    quiet: quiet!,
    publisher: 'gateway',
    listener: 'listener',
    newcomer: 'newcomer',
    eventId: event!.id,
    window: { since: new Date(middle), until: new Date(middle + DAY_MS / 24) },
  };
}

/** Pages of the log with its indexes. */
export async function pagesOfLog(database: TestDatabase): Promise<number> {
  const [row] = await database.query<{ pages: number }>(`
    select sum(pg_total_relation_size(relid) / 8192)::int as pages
    from pg_partition_tree('webhook_service.deliveries') where isleaf`);
  return row!.pages;
}

/** Makes the partitions of thirty days before this one and of a week after it. */
export async function makeDays(database: TestDatabase, now: Date): Promise<void> {
  for (const table of ['events', 'deliveries'] as const) {
    for (const { name, from, to } of dayPartitions(table, now, -DAYS, 7)) {
      await database.query(
        `create table if not exists webhook_service.${name} (like webhook_service.${table} including all)`,
      );
      await database.query(
        `alter table webhook_service.${table} attach partition webhook_service.${name}
         for values from ('${from}') to ('${to}')`,
      );
    }
  }
}

const INSERT_WEBHOOKS = `
  insert into webhook_service.webhooks (id, user_id, url, events, secret)
  select id, $2, 'https://receiver.example/', '{*}', '' from unnest($1::uuid[]) as id`;

/** A UUIDv7 of the millisecond, made different from all others by `n`. */
const idOf = (kind: string) => `(
  lpad(to_hex(ms), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '${kind}' || lpad(to_hex(n), 15, '0'))::uuid`;

/**
 * Of each ten events the first eight are for the loud webhook, the ninth is for the broken one, and the tenth for
 * another user, for whom `gateway` publishes. Each tenth of the log has one `operation.failed` and one to all users; these two are
 * about `rare`. Half of all others are about `common`, and a quarter about a subject of their own.
 */
const INSERT_EVENTS = `
  insert into webhook_service.events
    (id, name, subject, user_id, publisher_id, body, accepted_at, fanned_out_at, leased_until)
  select ${idOf('8')}, case when nth = 4 then 'operation.failed' else 'follower.gained' end,
         case when nth in (4, 7) then 'rare' when n % 20 < 10 then 'common' when n % 20 < 15 then 'invoice/' || n end,
         case when nth = 7 then null when n % 10 = 9 then 'somebody ' || n % 500 else 'owner' end,
         case when n % 10 = 9 then 'gateway' else 'owner' end,
         '{"id":"","event":"follower.gained","createdAt":"2026-01-15T09:30:00.000Z","data":{"accountId":"one"}}', at, at, at
  from (
    select n, ms, n % ($1::bigint / ${RARE}) as nth, to_timestamp(ms / 1000.0) as at
    from (
      select n, ($2::bigint + ($3::bigint - $2::bigint) * (n / $1::float8))::bigint as ms
      from generate_series(1, $1::bigint) as n
    ) as moment
  ) as event`;

/** Each tenth of the log has one delivery of every rare kind for the loud webhook. */
const INSERT_DELIVERIES = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, subject, attempt, trigger, status, url, response_status, duration_ms, error_code,
     scheduled_at, attempted_at, completed_at, request_headers, response_headers, response_body,
     response_body_truncated, leased_until)
  select overlay(id::text placing '9' from 20 for 1)::uuid,
         case n % 10 when 8 then case when n % ($1::bigint / ${RARE} / 2) = 8 then $4::uuid else $3::uuid end
           when 9 then md5((n % 500)::text)::uuid else $2::uuid end,
         case when n % 10 = 9 then 'somebody ' || n % 500 else 'owner' end, id, name, subject, 1,
         case nth when 5 then 'redelivery' when 6 then 'test' else 'event' end,
         case when nth = 1 or n % 10 = 8 and nth <> 18 then 'failed'
           when nth = 2 then 'canceled' when nth = 3 then 'pending' else 'succeeded' end,
         'https://receiver.example/', 200, 12, case when nth = 1 or n % 10 = 8 then 'http_status' end,
         accepted_at, accepted_at, accepted_at, '{"content-type":"application/json"}', '{"connection":"keep-alive"}', '',
         false, accepted_at
  from (
    select *, n % ($1::bigint / ${RARE}) as nth
    from (select *, ('x' || right(id::text, 12))::bit(48)::bigint as n from webhook_service.events) as event
  ) as event`;

const INSERT_BROADCASTS = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, subject, attempt, trigger, status, url, scheduled_at, leased_until)
  select overlay(id::text placing 'a' from 20 for 1)::uuid, $1, 'listener', id, name, subject, 1, 'event', 'succeeded',
         'https://receiver.example/', accepted_at, accepted_at
  from webhook_service.events where user_id is null`;

const MIDDLE_EVENT = `
  select event_id as id from webhook_service.deliveries
  where webhook_id = $1 order by abs(('x' || right(event_id::text, 12))::bit(48)::bigint - $2::bigint) limit 1`;
