import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Batcher } from '../infrastructure/concurrency/batcher';
import { idBounds } from '../infrastructure/database/id-bounds';
import { type Statement, StatementsService } from '../infrastructure/database/statements.service';
import { type DeliveryError, deliveryError } from './delivery-error';
import { JOB_LEASE, PROXY_WAIT } from './lease';
import { countAttempts } from '../webhooks/stats/counting';
import { boundsFrom, isAmong, isOneOf, isPending } from './found-by-id';

const RELEASE_LEASES: Statement = {
  name: 'release_leases',
  text: `
    with free as (
      select id from webhook_service.deliveries
      where ${isOneOf('deliveries', '$1::uuid[]')} and ${isPending('deliveries')} and not parked and not claimed
      for update skip locked
    )
    update webhook_service.deliveries d set leased_until = greatest(d.scheduled_at, now())
    where ${isOneOf('d', 'array(select id from free)')}`,
};

const EXTEND_LEASES: Statement = {
  name: 'extend_leases',
  text: `
    with free as (
      select id from webhook_service.deliveries
      where ${isOneOf('deliveries', '$1::uuid[]')} and ${isPending('deliveries')}
      for update skip locked
    )
    update webhook_service.deliveries d set leased_until = greatest(d.leased_until, now() + ${JOB_LEASE})
    where ${isOneOf('d', 'array(select id from free)')}`,
};

/** Only claimed rows: a row that is canceled meanwhile stays canceled. */
const WAIT_FOR_PROXY: Statement = {
  name: 'wait_for_proxy',
  text: `
    with free as (
      select id from webhook_service.deliveries
      where ${isOneOf('deliveries', '$1::uuid[]')} and ${isPending('deliveries')} and claimed
      for update skip locked
    )
    update webhook_service.deliveries d
    set claimed = false, scheduled_at = now() + ${PROXY_WAIT}, leased_until = now() + ${PROXY_WAIT},
        error_code = $4, error_message = $5
    where ${isOneOf('d', 'array(select id from free)')}`,
};

const CANCELED = `
  select webhook_id, user_id, status, error_code, null::int as response_status, null::int as duration_ms, now() as at,
         count(*) as count
  from canceled group by 1, 2, 3, 4`;

/**
 * Cancels pending rows with the error $1 and the message $2. Locks rows in id order, as writing outcomes does, so that the two cannot
 * deadlock.
 */
const cancel = (where: string, lock: string): string => {
  const find = `
      select id from webhook_service.deliveries
      where ${where} and status = 'pending' and trigger <> 'test'
      order by id`;
  return `
    with bounds as materialized (${boundsFrom(`${find} limit 1`)}), pending as materialized (${find} ${lock}), canceled as (
      update webhook_service.deliveries d
      set status = 'canceled', changed_in = pg_current_xact_id(), error_code = $1, error_message = $2, completed_at = now()
      where ${isAmong('d', 'pending', 'bounds')} and d.status = 'pending'
      returning d.webhook_id, d.user_id, d.status, d.error_code
    ), counted as (${countAttempts(CANCELED)})
    select count(*)::int as count from canceled`;
};

const CANCEL_PENDING = cancel('webhook_id = $3', 'for update');

/** Leaves rows whose attempt is being made: it ends within seconds. */
const CANCEL_EXPIRED: Statement = {
  name: 'cancel_expired_deliveries',
  text: cancel('event_id < $3 and not claimed', 'limit $4 for update skip locked'),
};

const CANCEL_LOST: Statement = {
  name: 'cancel_deliveries_of_lost_events',
  text: cancel('id = any($3::uuid[])', 'for update skip locked'),
};

/** The event was past retention, or a failover has lost it while a process still had the outcome of its delivery. */
const LOST: DeliveryError = {
  code: 'expired',
  message: 'Its event is no longer in the database, so this delivery was not sent.',
};

const MAX_BATCH = 200;

/** Leases and cancellation of pending rows. */
@Injectable()
export class DeliveriesRepository {
  private readonly waits = new Batcher<string, void>((ids) => this.waitAll(ids), MAX_BATCH);

  constructor(private readonly statements: StatementsService) {}

  /** Releases the leases of unclaimed rows to the sweeper: they end when the rows are due. */
  async releaseLeases(ids: readonly string[]): Promise<void> {
    await this.statements.run(RELEASE_LEASES, [ids, ...idBounds(ids)]);
  }

  /** Extends the leases of rows with slow attempts, so that the sweeper does not take them. */
  async extendLeases(ids: readonly string[]): Promise<void> {
    await this.statements.run(EXTEND_LEASES, [ids, ...idBounds(ids)]);
  }

  /** Puts back a claimed row: it waits for the egress proxy, and is due again after 30 s. Concurrent calls share a statement. */
  waitForProxy(id: string): Promise<void> {
    return this.waits.add(id);
  }

  /** Cancels the pending deliveries of a webhook, except test deliveries, in the transaction of `manager`. */
  async cancelPending(manager: EntityManager, webhookId: string, { code, message }: DeliveryError): Promise<void> {
    await manager.query(CANCEL_PENDING, [code, message, webhookId]);
  }

  /** Cancels pending deliveries whose events are not in the database. */
  async cancelLost(ids: readonly string[]): Promise<void> {
    await this.statements.run(CANCEL_LOST, [LOST.code, LOST.message, ids]);
  }

  /** Cancels pending deliveries of events with a lower id than `firstKeptId`, at most `limit`. Returns their number. */
  async cancelExpired(firstKeptId: string, { code, message }: DeliveryError, limit: number): Promise<number> {
    const [row] = await this.statements.run<{ count: number }>(CANCEL_EXPIRED, [code, message, firstKeptId, limit]);
    return row?.count ?? 0;
  }

  private async waitAll(ids: readonly string[]): Promise<void[]> {
    const { code, message } = deliveryError('proxy_failed', { durationMs: 0, timeoutMs: 0 });
    await this.statements.run(WAIT_FOR_PROXY, [ids, ...idBounds(ids), code, message]);
    return ids.map(() => undefined);
  }
}
