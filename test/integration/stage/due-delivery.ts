import { v7 } from 'uuid';
import type { PartitionKey } from '../../../src/deliveries/rows/attempt';
import type { TestDatabase } from '../../support/postgres';

/**
 * Inserts an event and a pending delivery of it that has no job.
 * @param due PostgreSQL intervals from now: when it is due, and when its lease ends
 */
export async function insertDueDelivery(
  database: TestDatabase,
  { webhookId, userId }: PartitionKey,
  url: string | null,
  { due = '0 s', leased = '10 s' } = {},
): Promise<string> {
  const id = v7();
  await database.query(
    `with event as (
       insert into webhook_service.events (id, name, user_id, body, fanned_out_at, leased_until)
       values ($1, 'job.started', $2, '{}', now(), now())
     )
     insert into webhook_service.deliveries
       (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until)
     values ($1, $3, $2, $1, 'job.started', $4, 1, 'event', 'pending', now() + $5::interval, now() + $6::interval)`,
    [id, userId, webhookId, url, due, leased],
  );
  return id;
}
