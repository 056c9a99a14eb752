import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Statement, StatementsService } from '../../infrastructure/database/statements.service';
import { isAmong } from '../found-by-id';
import { EVENT_LEASE, JOB_LEASE, deferredLease } from '../lease';
import { SEND_QUEUE_INDEX } from '../send-queue-names';
import type { PartitionKey } from '../partition-key';

/**
 * When a queue has lost its jobs, the leases of its rows expire within 1 to 3 s. In the first second, attempts in flight can end;
 * the spread protects receivers from a burst.
 */
const SOON = `(1 + 2 * random()) * interval '1 second'`;

/**
 * Two sweepers never take the same rows. $2 limits the sweep to leases that ended at most this many milliseconds ago, because it
 * also reads dead index entries; null for all.
 */
const expired = (table: 'events' | 'deliveries', isOpen: string): string => {
  const find = `
    select id from webhook_service.${table}
    where ${isOpen} and leased_until > coalesce(now() - $2::float8 * interval '1 ms', '-infinity') and leased_until <= now()
    order by leased_until limit`;
  // The rows of ten sweeps: others may have locked the first of them.
  return `with found as materialized (${find} 10 * $1), expired as materialized (${find} $1 for update skip locked)`;
};

/** The leases of consumers end otherwise; see `SettlementsService`. */
const IS_PUSHED = `status = 'pending' and url is not null`;

const RECLAIM_EVENTS: Statement = {
  name: 'reclaim_events',
  text: `
    ${expired('events', 'fanned_out_at is null')}
    update webhook_service.events e set claimed = false, leased_until = now() + ${EVENT_LEASE}
    where ${isAmong('e', 'expired', 'found')}
    returning e.id`,
};

const RELEASE_EVENTS = `
  update webhook_service.events set leased_until = now()
  where id = any($1::uuid[]) and fanned_out_at is null and not claimed`;

const RECLAIM_DELIVERIES: Statement = {
  name: 'reclaim_deliveries',
  text: `
    ${expired('deliveries', IS_PUSHED)}
    update webhook_service.deliveries d set leased_until = now() + ${JOB_LEASE}, parked = false, claimed = false
    where ${isAmong('d', 'expired', 'found')}
    returning d.id, d.webhook_id as "webhookId", d.user_id as "userId"`,
};

/** For rows beyond the queue capacity: workers dispatch them as slots become free. */
const DEFER_DELIVERIES: Statement = {
  name: 'defer_expired_deliveries',
  text: `
    ${expired('deliveries', IS_PUSHED)}
    update webhook_service.deliveries d set leased_until = ${deferredLease('d')}, parked = true, claimed = false
    where ${isAmong('d', 'expired', 'found')}
    returning d.id`,
};

/** A claimed event requires no job. An event that is held for half a second is claimed. */
const EXPIRE_EVENTS = `
  update webhook_service.events set leased_until = now() + ${SOON}
  where fanned_out_at is null and leased_until > now() and not claimed`;

const EXPIRE_DELIVERIES = `
  update webhook_service.deliveries set leased_until = greatest(scheduled_at, now() + ${SOON})
  where ${IS_PUSHED} and leased_until > now() and not parked and not claimed and ${SEND_QUEUE_INDEX} = any($2::int[])`;

/**
 * Counts at most $1 rows of each kind and reads only the partial indexes. Sweeps run every second, so a row that expired more
 * than 5 s ago means that sweeping is stuck.
 */
const COUNT_EXPIRED = `
  select
    (select count(*)::int from (
      select from webhook_service.events
      where fanned_out_at is null and leased_until < now() - interval '5 seconds' limit $1) as e) as events,
    (select count(*)::int from (
      select from webhook_service.deliveries
      where status = 'pending' and leased_until < now() - interval '5 seconds' limit $1) as d) as deliveries`;

/** A delivery whose expired lease the sweeper has taken. */
export type SweptDelivery = PartitionKey & { id: string };

/** Finds rows whose leases have expired, and takes over these leases. */
@Injectable()
export class SweepRepository {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly statements: StatementsService,
  ) {}

  /**
   * Takes over at most `limit` events whose leases ended within `withinMs` (null for any time), for which the caller enqueues
   * jobs. Returns their ids.
   */
  async reclaimEvents(limit: number, withinMs: number | null): Promise<string[]> {
    return (await this.statements.run<{ id: string }>(RECLAIM_EVENTS, [limit, withinMs])).map(({ id }) => id);
  }

  /**
   * Takes over at most `limit` deliveries whose leases ended within `withinMs` (null for any time), for which the caller enqueues
   * jobs.
   */
  reclaimDeliveries(limit: number, withinMs: number | null): Promise<SweptDelivery[]> {
    return this.statements.run<SweptDelivery & Record<string, unknown>>(RECLAIM_DELIVERIES, [limit, withinMs]);
  }

  /** Ends the leases of events that could not be enqueued, so that the next sweep takes them. */
  async releaseEvents(ids: readonly string[]): Promise<void> {
    await this.dataSource.query(RELEASE_EVENTS, [ids]);
  }

  /** Defers at most `limit` deliveries whose leases ended within `withinMs` (null for any time). Returns their number. */
  async deferDeliveries(limit: number, withinMs: number | null): Promise<number> {
    return (await this.statements.run(DEFER_DELIVERIES, [limit, withinMs])).length;
  }

  /** Makes the leases of unclaimed events end within 3 s, because their queue has lost its jobs. Returns the number of rows. */
  async expireEvents(): Promise<number> {
    const [, count] = await this.dataSource.query<[unknown, number]>(EXPIRE_EVENTS);
    return count;
  }

  /**
   * Makes leases end within 3 s, or when the row is due if that is later, because send queues have lost the jobs of these rows.
   * `indexes` selects these queues among `count`. Returns the number of rows.
   */
  async expireDeliveries(count: number, indexes: readonly number[]): Promise<number> {
    const [, rows] = await this.dataSource.query<[unknown, number]>(EXPIRE_DELIVERIES, [count, indexes]);
    return rows;
  }

  /** Counts the rows that expired more than 5 s ago, up to `limit` of each kind. */
  async countExpired(limit: number): Promise<{ events: number; deliveries: number }> {
    const [counts] = await this.dataSource.query<{ events: number; deliveries: number }[]>(COUNT_EXPIRED, [limit]);
    return { events: 0, deliveries: 0, ...counts };
  }

  /** Throws while PostgreSQL is unavailable. */
  async assertReachable(): Promise<void> {
    await this.dataSource.query('select 1');
  }
}
