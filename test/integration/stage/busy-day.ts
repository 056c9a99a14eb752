import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { ClockService } from '../../../src/infrastructure/database/clock.service';
import { PartitionsService } from '../../../src/infrastructure/database/partitions.service';
import type { TestDatabase } from '../../support/postgres';
import { DAY_MS } from '../../../src/infrastructure/config/durations';

/** A webhook and its owner. */
export interface Owned {
  webhookId: string;
  userId: string;
}

/** A day without vacuum and analyze, in the middle of a month of partitions. Its rows are from noon. */
export class BusyDay {
  /** Its events succeed, or fail once and then succeed. */
  readonly busy: Owned = { webhookId: randomUUID(), userId: 'busy' };
  /** It has a backlog of pending rows, half of them deferred. */
  readonly behind: Owned = { webhookId: randomUUID(), userId: 'behind' };
  /** Consumers lease its deliveries, of which as many wait. */
  readonly pulled: Owned = { webhookId: randomUUID(), userId: 'pulled' };
  /** None of its deliveries has succeeded. */
  readonly failing: Owned = { webhookId: randomUUID(), userId: 'failing' };
  private rows = 0;
  /** Until the day grows, statements find no rows. */
  isEmpty = true;
  private readonly noonMs = new Date().setUTCHours(12, 0, 0, 0);

  constructor(private readonly database: TestDatabase) {}

  /** Creates a month of partitions as the service does, without autovacuum, and the webhooks. */
  async begin(dataSource: DataSource): Promise<void> {
    for (const daysAgo of [30, 22, 14, 6, 0]) {
      const now = () => new Date(Date.now() - daysAgo * DAY_MS);
      const partitions = new PartitionsService(dataSource, { now } as ClockService);
      await partitions.onModuleInit();
      await partitions.onApplicationShutdown();
    }
    const partitions = await this.database.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits
       where inhparent in ('webhook_service.events'::regclass, 'webhook_service.deliveries'::regclass)`,
    );
    for (const { name } of partitions) await this.database.query(`alter table ${name} set (autovacuum_enabled = off)`);
    for (const table of ['recent_attempts', 'attempt_counts', 'event_keys', 'webhooks'])
      await this.database.query(`alter table webhook_service.${table} set (autovacuum_enabled = off)`);
    for (const { webhookId, userId } of [this.busy, this.behind, this.failing])
      await this.database.query(
        `insert into webhook_service.webhooks (id, user_id, url, events, secret, created_at)
         values ($1, $2, 'https://receiver.example/', '{job.started}', '', now() - interval '1 year')`,
        [webhookId, userId],
      );
    await this.database.query(
      `insert into webhook_service.webhooks (id, user_id, kind, events, secret) values ($1, $2, 'pull', '{a.b}', '')`,
      [this.pulled.webhookId, this.pulled.userId],
    );
    await this.database.query(
      `insert into webhook_service.webhooks (id, user_id, url, events, secret)
       select gen_random_uuid(), 'other ' || n, 'https://receiver.example/', '{follower.*}', ''
       from generate_series(1, 10000) as n`,
    );
  }

  /** Tells PostgreSQL what is in the partitions now. */
  async analyze(): Promise<void> {
    await this.database.query('analyze webhook_service.events, webhook_service.deliveries');
  }

  /** Deletes the rows that the statements themselves have inserted. */
  async clear(): Promise<void> {
    for (const table of ['events', 'deliveries', 'recent_attempts', 'attempt_counts', 'event_keys'])
      await this.database.query(`delete from webhook_service.${table}`);
  }

  /**
   * Grows the day by this many rows in each table, 500 a second, each changed as often as in the service: an event is
   * inserted and completed; a third of the deliveries was pending and claimed first. Their leases ended before the time
   * that a sweep reads, which has as many on any day. Also lets one webhook fall behind; half of its rows are deferred.
   */
  async growTo(rows: number, backlog: number): Promise<void> {
    this.rows += rows;
    this.isEmpty = false;
    await this.database.query(INSERT_EVENTS, [rows, this.noonMs]);
    await this.database.query('update webhook_service.events set fanned_out_at = now()');
    await this.database.query(INSERT_DELIVERIES, [this.busy.webhookId, this.failing.webhookId]);
    await this.database.query(CLAIM_DELIVERIES);
    await this.database.query(SETTLE_DELIVERIES);
    await this.database.query(INSERT_BACKLOG, [backlog, this.noonMs, this.behind.webhookId]);
    await this.database.query(INSERT_WAITING, [backlog, this.noonMs, this.pulled.webhookId]);
  }

  /** Publishes `count` events of a user, which wait for their fan-out, and returns their ids. */
  async publish(count: number, userId: string | null = this.busy.userId): Promise<string[]> {
    const ids = Array.from({ length: count }, (_, i) =>
      this.idOf(i % 2 === 0 ? -(this.rows + 1 + i) : this.rows + 1 + i),
    );
    if (this.isEmpty) return ids;
    await this.database.query(
      `insert into webhook_service.events (id, name, user_id, publisher_id, body)
       select id, 'job.started', $2, 'busy', ${BODY} from unnest($1::uuid[]) as id`,
      [ids, userId],
    );
    this.rows += count;
    return ids;
  }

  /** Inserts pending deliveries of the busy webhook for such events, and returns their ids. */
  async deliver(count: number, { claimed = false } = {}): Promise<string[]> {
    const events = await this.publish(count);
    const ids = events.map((id) => id.replace(/^(.{19})./, '$1a'));
    if (!this.isEmpty) await this.database.query(INSERT_PENDING, [ids, events, this.busy.webhookId, claimed]);
    return ids;
  }

  /** Expires the leases of these rows, long enough after they were inserted. */
  async expire(table: 'events' | 'deliveries', ids: readonly string[]): Promise<void> {
    await this.database.query(
      `update webhook_service.${table} set leased_until = now() - interval '1 s' where id = any($1)`,
      [ids],
    );
  }

  /** Inserts attempts that are counted but not summed up yet. */
  async count(attempts: number): Promise<void> {
    if (!this.isEmpty) await this.database.query(COUNT_ATTEMPTS, [attempts, this.busy.webhookId]);
  }

  private idOf(n: number): string {
    const time = (this.noonMs + n).toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${Math.abs(n).toString(16).padStart(12, '0')}`;
  }
}

const BODY = `'{"id":"","event":"job.started","createdAt":"2026-01-15T09:30:00.000Z","data":{"jobId":"one"}}'`;

/** The UUIDv7 of the n-th millisecond after noon. */
const ID = `(lpad(to_hex($2::bigint + n), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid`;

const INSERT_EVENTS = `
  insert into webhook_service.events (id, name, user_id, publisher_id, body, leased_until)
  select ${ID}, 'job.started', 'busy', 'busy', ${BODY} || repeat(' ', 400), now() - interval '1 minute' - ($1 - n) * interval '2 ms'
  from generate_series(1, $1::int) as n`;

/** One in ten is of the webhook that always fails, one in three had to wait for a slot. */
const INSERT_DELIVERIES = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, attempt, trigger, status, url, response_status, duration_ms, scheduled_at,
     attempted_at, completed_at, request_headers, response_headers, response_body, leased_until)
  select overlay(id::text placing '9' from 20 for 1)::uuid, case when n % 10 = 0 then $2::uuid else $1::uuid end,
         case when n % 10 = 0 then 'failing' else 'busy' end, id, name, 1, 'event',
         case when n % 3 = 0 then 'pending' when n % 10 = 0 then 'failed' else 'succeeded' end,
         'https://receiver.example/', 200, 12, now(), now(), now(), '{"content-type":"application/json"}',
         '{"connection":"keep-alive"}', 'ok', leased_until
  from (select *, ('x' || right(id::text, 12))::bit(48)::bigint as n from webhook_service.events) as e`;

const CLAIM_DELIVERIES = `
  update webhook_service.deliveries set claimed = true, leased_until = leased_until + interval '1 s' where status = 'pending'`;

const SETTLE_DELIVERIES = `
  update webhook_service.deliveries
  set changed_in = pg_current_xact_id(), status = case when user_id = 'failing' then 'failed' else 'succeeded' end
  where status = 'pending'`;

const INSERT_BACKLOG = `
  with e as (
    insert into webhook_service.events (id, name, user_id, publisher_id, body, fanned_out_at)
    select overlay(${ID}::text placing 'b' from 20 for 1)::uuid, 'job.started', 'behind', 'behind', ${BODY}, now()
    from generate_series(1, $1::int) as n
    returning id
  )
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, attempt, trigger, status, url, scheduled_at, parked, leased_until)
  select id, $3, 'behind', id, 'job.started', 1, 'event', 'pending', 'https://receiver.example/', now(),
         id::text ~ '[02468ace]$', now() + interval '1 hour'
  from e`;

const INSERT_WAITING = `
  with e as (
    insert into webhook_service.events (id, name, user_id, publisher_id, body, fanned_out_at)
    select overlay(${ID}::text placing 'c' from 20 for 1)::uuid, 'a.b', 'pulled', 'pulled', ${BODY}, now()
    from generate_series(1, $1::int) as n
    returning id
  )
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, attempt, trigger, status, scheduled_at, leased_until)
  select id, $3, 'pulled', id, 'a.b', 1, 'event', 'pending', now(), 'infinity' from e`;

/** The lease differs from that of a claim in the same millisecond: an update that keeps it is HOT and skips indexes. */
const INSERT_PENDING = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, attempt, trigger, status, url, scheduled_at, leased_until, claimed)
  select d.id, $3, 'busy', d.event_id, 'job.started', 1, 'event', 'pending', 'https://receiver.example/', now(),
         now() + interval '9 s', $4
  from unnest($1::uuid[], $2::uuid[]) as d (id, event_id)`;

const COUNT_ATTEMPTS = `
  insert into webhook_service.recent_attempts (webhook_id, user_id, status, error_code, duration_class, at, count)
  select $2::uuid, 'busy', 'succeeded', '', 1, now(), 1 from generate_series(1, $1::int)`;
