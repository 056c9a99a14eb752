import { randomBytes } from 'node:crypto';
import type { TestDatabase } from './postgres';

/** A UUIDv7 of this moment. */
const ID = `(lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7' || $4 || '8' || lpad(to_hex(n), 15, '0'))::uuid`;

const INSERT = `
  with row as materialized (select ${ID} as id from generate_series(1, $3::int) as n), e as (
    insert into webhook_service.events (id, name, user_id, publisher_id, body, fanned_out_at)
    select id, 'job.started', $2, $2, '{}', now() from row where $5
  )
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, attempt, trigger, status, url, parked, scheduled_at, leased_until)
  select id, $1, $2, id, 'job.started', 1, 'event', 'pending', $6::text, $7, now(), 'infinity' from row`;

interface Backlog {
  webhookId: string;
  userId: string;
  rows: number;
  /** Null for a pull webhook. */
  url: string | null;
  /** False leaves them pending without a job, with leases that never end. */
  isDeferred?: boolean;
  /** False leaves the deliveries without events, which are only read when they are sent. */
  hasEvents?: boolean;
}

/** Inserts deliveries that wait: for the rate of their webhook, which `maxPerSecond` has to limit, or for a consumer. */
export async function insertBacklog(
  database: TestDatabase,
  { webhookId, userId, rows, url, isDeferred = url !== null, hasEvents = true }: Backlog,
): Promise<void> {
  const mark = randomBytes(2).toString('hex').slice(0, 3);
  await database.query(INSERT, [webhookId, userId, rows, mark, hasEvents, url, isDeferred]);
}
