import { MAX_ID } from '../../infrastructure/database/id-time';

// Conditions of statements that find rows by id. Their plans are cached, perhaps while a partition is empty, and must use the
// primary key: every other index grows with the day, or keeps dead entries until a vacuum.

/** Matches a row whose id is in an array, such as `$1::uuid[]`. `$2` and `$3` are the lowest and highest of these ids. */
export const isOneOf = (row: string, ids: string): string => `${row}.id = any(${ids}) and ${isWithin(row, '$2', '$3')}`;

/**
 * Matches a row whose id the CTE `cte` returns, as long as it is between the ids of `bounds`, a CTE that locks nothing. Its ids
 * limit the scan before the first lock. PostgreSQL 18 crashes when a statement selects partitions after it has met a row that
 * another transaction has just changed: then it reads memory that it has freed.
 */
export const isAmong = (row: string, cte: string, bounds: string): string => {
  const [lowest, highest] = ['asc', 'desc'].map((order) => `(select id from ${bounds} order by id ${order} limit 1)`);
  return `${row}.id = any(array(select id from ${cte})) and ${isWithin(row, lowest as string, highest as string)}`;
};

/** Bounds for `isAmong`: from the ids that the query `lowest` returns, without an upper one. */
export const boundsFrom = (lowest: string): string => `(${lowest}) union all select '${MAX_ID}'::uuid`;

/** Limits the scan to the partitions of these ids. The `or` prevents an index range scan from the lowest to the highest id. */
const isWithin = (row: string, lowest: string, highest: string): string =>
  `(${row}.id between ${lowest} and ${highest} or ${row}.id = ${lowest})`;

/** Matches a pending delivery. The condition is written so that PostgreSQL cannot use partial indexes on pending rows. */
export const isPending = (row: string): string => `${row}.status || '' = 'pending'`;

/** The lowest id that a delivery of an event can have: as a bound it lets PostgreSQL skip the partitions of days before. */
export const lowestDeliveryId = (eventId: string): string =>
  `overlay(${eventId}::text placing '-0000-0000-000000000000' from 14)::uuid`;

/** Matches an event without a pending delivery to a webhook. The limit keeps PostgreSQL from joining with all that is pending. */
export const hasNonePending = (webhookId: string, eventId: string): string => `(
    select true from webhook_service.deliveries p
    where p.webhook_id = ${webhookId} and p.event_id = ${eventId} and p.status = 'pending'
      and p.id >= ${lowestDeliveryId(eventId)} limit 1) is null`;

/** Matches an event that is not fanned out, likewise without partial indexes. */
export const IS_OPEN = `coalesce(fanned_out_at, 'infinity') = 'infinity'`;

/**
 * SQL that locks events that are not fanned out, of those with these ids; `$2` and `$3` are the lowest and highest. Skips events
 * that another transaction has locked: they would delay those of other users, and the sweeper takes them later.
 */
export const freeEvents = (ids: string, and = ''): string => `
      select id from webhook_service.events where ${isOneOf('events', ids)} and ${IS_OPEN} ${and} for update skip locked`;

/**
 * CTEs `found` and `expired` of deliveries whose leases ended, at most $1. Two sweepers never take the same rows. $2 limits the
 * sweep to leases that ended at most this many milliseconds ago, because it also reads dead index entries; null for all.
 */
export const expiredLeases = (isOpen: string): string => {
  const find = `
    select id from webhook_service.deliveries
    where ${isOpen} and leased_until > coalesce(now() - $2::float8 * interval '1 ms', '-infinity') and leased_until <= now()
    order by leased_until limit`;
  // The rows of ten sweeps: others may have locked the first of them.
  return `with found as materialized (${find} 10 * $1), expired as materialized (${find} $1 for update skip locked)`;
};

/** A move of pending rows `d` from one state to another: waiting, claimed, settled. */
interface Transition {
  /** Condition on the rows besides being pending; all by default. */
  from?: string;
  set: string;
  returning?: string;
}

/**
 * SQL that moves the rows with the ids `$1`; `$2` and `$3` are the lowest and highest. Skips rows that another process has locked:
 * that process moves them, and waiting for it would delay the other rows.
 */
export const transition = ({ from = 'true', set, returning = 'd.id' }: Transition): string => `
    with free as (
      select id from webhook_service.deliveries d
      where ${isOneOf('d', '$1::uuid[]')} and ${isPending('d')} and ${from}
      for update skip locked
    )
    update webhook_service.deliveries d set ${set}
    where ${isOneOf('d', 'array(select id from free)')}
    returning ${returning}`;
