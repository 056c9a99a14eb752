import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { eventBody } from 'webhook-notification';
import { sharedStatement } from '../../infrastructure/concurrency/batcher';
import { ClockService } from '../../infrastructure/database/clock.service';
import { idBounds } from '../../infrastructure/database/id-time';
import { type Statement, StatementsService, statement } from '../../infrastructure/database/statements.service';
import type { Webhook } from '../../webhooks/webhook.entity';
import type { Trigger } from './delivery.entity';
import { deliveryError } from './delivery-error';
import { expiredLeases, hasNonePending, isAmong, isOneOf, transition } from './found-by-id';
import { deferredLease, hasRate, insertedLease, JOB_LEASE } from './lease';
import { isStopped } from './stopping';
import type { PartitionKey } from './attempt';
import { RetentionCutoffService } from './retention-cutoff.service';
import { PUT_BACKS, type Wait } from './waits';

/** Skips events with a pending attempt, and events that are past retention. */
const INSERT_PENDING = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, subject, url, attempt, trigger, status, scheduled_at, leased_until)
  select r.id, w.id, w.user_id, e.id, e.name, e.subject, w.url, 1, $7::text, 'pending', now(), ${insertedLease('w.url', 'now()')}
  from webhook_service.webhooks w
  cross join webhook_service.events e
  join unnest($5::uuid[], $1::uuid[]) as r (id, event_id) on r.event_id = e.id
  where w.id = $4 and ${isOneOf('e', '$1::uuid[]')} and e.id >= $6 and ${hasNonePending('w.id', 'e.id')}
  returning id`;

const TEST_IN_FLIGHT = `
  select 1 from webhook_service.deliveries
  where webhook_id = $1 and status = 'pending' and trigger = 'test' and leased_until > now()`;

/** The event of a test can be sent and shown, but is never fanned out. */
const INSERT_TEST_EVENT = `
  insert into webhook_service.events (id, name, user_id, body, is_test, fanned_out_at)
  values ($1, $2, $3, $4, true, now())`;

const RELEASE_LEASES: Statement = {
  name: 'release_leases',
  text: transition({ from: 'not parked and not claimed', set: 'leased_until = greatest(d.scheduled_at, now())' }),
};

/** Only claimed rows: a row that is canceled meanwhile stays canceled. */
const putBack = (wait: Wait): Statement => ({
  name: `wait_for_${wait}`,
  text: transition({
    from: 'claimed',
    set: `claimed = false, scheduled_at = now() + $6 * interval '1 second', attempted_at = null,
        leased_until = case when d.url is null then 'infinity' else now() + $6 * interval '1 second' end,
        error_code = $4, error_message = $5`,
  }),
});

const DEFERRED = `parked = true, claimed = false, leased_until = ${deferredLease('d')}`;

/** Defers only unclaimed rows, and those that this process has claimed ($4): others would be sent a second time. */
const DEFER: Statement = {
  name: 'defer_deliveries',
  text: transition({
    from: 'not parked and (not claimed or id = any($4::uuid[]))',
    set: DEFERRED,
    returning: `d.id, (select max_per_second from webhook_service.webhooks w where w.id = d.webhook_id) as "maxPerSecond"`,
  }),
};

/** The leases of consumers end otherwise; see `SettlementsService`. */
const IS_PUSHED = `status = 'pending' and url is not null`;

/** Rows of a webhook that is stopping wait for nothing but being canceled. They count, so that a sweep continues after them. */
const RECLAIM = statement('reclaim_deliveries')`
    ${expiredLeases(IS_PUSHED)}
    update webhook_service.deliveries d
    set leased_until = case when ${isStopped('d')} then 'infinity' else now() + ${JOB_LEASE} end, parked = false, claimed = false
    where ${isAmong('d', 'expired', 'found')}
    returning d.id, d.webhook_id as "webhookId", d.user_id as "userId", ${isStopped('d')} as "isStopped"`;

/** For rows beyond the queue capacity: workers dispatch them as slots become free. */
const DEFER_EXPIRED = statement('defer_expired_deliveries')`
    ${expiredLeases(IS_PUSHED)}
    update webhook_service.deliveries d set ${DEFERRED}
    where ${isAmong('d', 'expired', 'found')}
    returning d.id`;

/**
 * Makes each row due now, and defers it: the queue may hold a job of the same id for a time in the future, and would ignore a new
 * one. A deferred row requires no job.
 */
const DEFER_AHEAD = `
  with ahead as materialized (
    select id from webhook_service.deliveries
    where ${IS_PUSHED} and leased_until > now() + $1 * interval '1 millisecond' and leased_until < 'infinity'
    order by leased_until desc limit $2 for update skip locked
  )
  update webhook_service.deliveries d
  set scheduled_at = least(scheduled_at, now()), ${DEFERRED}
  where d.id = any(array(select id from ahead))
  returning d.id`;

const MOMENT = `interval '2 seconds'`;

/**
 * Defers a row whose attempt has not begun, so that it is dispatched: its job, when it starts, finds the row deferred or claimed. A
 * row that has been due for less than two seconds is about to be sent anyway; one that waits for the rate of its webhook or was put
 * back goes on waiting. A row without a url stays without a holder, for the next consumer.
 */
const MAKE_DUE = `
  update webhook_service.deliveries
  set scheduled_at = now(), changed_in = pg_current_xact_id(), parked = url is not null,
      leased_until = case when url is null then 'infinity' else ${deferredLease('deliveries')} end
  where id = $1 and webhook_id = $2 and status = 'pending' and not claimed
    and (scheduled_at > now() + ${MOMENT} and error_code is null
      or parked and scheduled_at < now() - ${MOMENT} and not ${hasRate('deliveries')})
  returning id`;

interface Deferral {
  id: string;
  isClaimed: boolean;
}

type Deferred = { id: string; maxPerSecond: number | null };

export type SweptDelivery = PartitionKey & { id: string; isStopped: boolean };

/**
 * Inserts rows that wait, and moves rows to waiting, or from one wait to another. Concurrent calls for one row share statements.
 */
@Injectable()
export class WaitingRowsRepository {
  private readonly deferrals = sharedStatement(
    ({ id }: Deferral) => id,
    async (all) => {
      const ids = all.map(({ id }) => id);
      const claimed = all.flatMap(({ id, isClaimed }) => (isClaimed ? [id] : []));
      const rows = await this.statements.run<Deferred>(DEFER, [ids, ...idBounds(ids), claimed]);
      return rows.map((row) => [row.id, row] as const);
    },
  );
  private readonly putBacks = new Map(
    PUT_BACKS.map(({ wait, error, seconds }) => {
      const statement = putBack(wait);
      const { code, message } = deliveryError(error, { durationMs: 0, timeoutMs: 0 });
      const run = async (ids: string[]): Promise<[]> => {
        await this.statements.run(statement, [ids, ...idBounds(ids), code, message, seconds]);
        return [];
      };
      return [wait, sharedStatement((id: string) => id, run)];
    }),
  );

  constructor(
    private readonly statements: StatementsService,
    private readonly dataSource: DataSource,
    private readonly clock: ClockService,
    private readonly cutoff: RetentionCutoffService,
  ) {}

  /**
   * Inserts an attempt, leased to a job, for each of these events that is within retention and has none pending at the webhook.
   * Returns the ids of the attempts. For redeliveries the caller must have locked the webhook in the same transaction.
   */
  async insert(
    manager: EntityManager,
    webhookId: string,
    eventIds: readonly string[],
    trigger: Exclude<Trigger, 'event'>,
  ): Promise<string[]> {
    if (eventIds.length === 0) return [];
    const ids = eventIds.map(() => this.clock.newId().id);
    const values = [eventIds, ...idBounds(eventIds), webhookId, ids, this.cutoff.firstKeptId(), trigger];
    return (await manager.query<{ id: string }[]>(INSERT_PENDING, values)).map(({ id }) => id);
  }

  /** Inserts the event and the delivery of a test. Null when another one is running, or the webhook is deleted. */
  insertTest({ id, userId }: Webhook, event: string, data: object): Promise<string | null> {
    const { id: eventId, at } = this.clock.newId();
    const body = eventBody(eventId, event, at, JSON.stringify(data));
    return this.dataSource.transaction(async (manager) => {
      await manager.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`test of ${id}`]);
      const running = await manager.query<unknown[]>(TEST_IN_FLIGHT, [id]);
      if (running.length > 0) return null;
      await manager.query(INSERT_TEST_EVENT, [eventId, event, userId, body]);
      const [deliveryId] = await this.insert(manager, id, [eventId], 'test');
      return deliveryId ?? null;
    });
  }

  /** Releases the leases of unclaimed rows to the sweeper: they end when the rows are due. */
  async releaseLeases(ids: readonly string[]): Promise<void> {
    await this.statements.run(RELEASE_LEASES, [ids, ...idBounds(ids)]);
  }

  /** Puts back a claimed row, to be attempted again later. Its error is the reason. */
  async putBack(id: string, wait: Wait): Promise<void> {
    await this.putBacks.get(wait)?.(id);
  }

  /** Defers a row that is not claimed, or by this process. Returns the rate of its webhook; null when there is no such row. */
  defer(id: string, isClaimed = false): Promise<Deferred | null> {
    return this.deferrals({ id, isClaimed });
  }

  /** Makes a pending attempt due now. Returns false when it is already due or in progress. */
  async makeDue(manager: EntityManager, webhookId: string, id: string): Promise<boolean> {
    const [rows] = await manager.query<[unknown[], number]>(MAKE_DUE, [id, webhookId]);
    return rows.length > 0;
  }

  /**
   * Takes over deliveries whose leases ended within `withinMs` (null: any time). The caller enqueues jobs for those that are not
   * stopped.
   */
  reclaim(limit: number, withinMs: number | null): Promise<SweptDelivery[]> {
    return this.statements.run<SweptDelivery & Record<string, unknown>>(RECLAIM, [limit, withinMs]);
  }

  /** Defers at most `limit` deliveries whose leases ended within `withinMs` (null for any time). Returns their number. */
  async deferExpired(limit: number, withinMs: number | null): Promise<number> {
    return (await this.statements.run(DEFER_EXPIRED, [limit, withinMs])).length;
  }

  /** Makes due the pending deliveries whose leases end more than `leaseMs` from now, at most `limit`. Returns their ids. */
  async deferAhead(leaseMs: number, limit: number): Promise<string[]> {
    const [rows] = await this.dataSource.query<[{ id: string }[], number]>(DEFER_AHEAD, [leaseMs, limit]);
    return rows.map(({ id }) => id);
  }
}
