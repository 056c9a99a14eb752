import { Injectable } from '@nestjs/common';
import { Batcher } from '../../infrastructure/concurrency/batcher';
import { idBounds } from '../../infrastructure/database/id-bounds';
import { type Statement, StatementsService } from '../../infrastructure/database/statements.service';
import { deferredLease, hasRate } from '../lease';
import type { PartitionKey } from '../partition-key';
import { isOneOf, isPending } from '../found-by-id';
import { PERMITS } from './rate';

const MAX_BATCH = 200;
const NIL = '00000000-0000-0000-0000-000000000000';

/** A webhook with deferred deliveries. */
export interface DeferredKey extends PartitionKey {
  /** The rate of the webhook; null when it has none. */
  maxPerSecond: number | null;
}

/** Defers only unclaimed rows, and those that this process has claimed ($4): others would be sent a second time. */
const DEFER: Statement = {
  name: 'defer_deliveries',
  text: `
    with free as (
      select id from webhook_service.deliveries
      where ${isOneOf('deliveries', '$1::uuid[]')} and ${isPending('deliveries')} and not parked
        and (not claimed or id = any($4::uuid[]))
      for update skip locked
    )
    update webhook_service.deliveries d set parked = true, claimed = false, leased_until = ${deferredLease('d')}
    where ${isOneOf('d', 'array(select id from free)')}
    returning d.id, (select max_per_second from webhook_service.webhooks w where w.id = d.webhook_id) as "maxPerSecond"`,
};

/** The webhooks with deferred rows after a user and an id. Reads one row of each from the index, however many rows it has. */
const keysAfter = (userId: string, webhookId: string): string => `
    with recursive key as (
      (select user_id, webhook_id from webhook_service.deliveries
       where status = 'pending' and parked and (user_id, webhook_id) > (${userId}::text, ${webhookId}::uuid)
       order by user_id, webhook_id limit 1)
      union all
      select following.* from key cross join lateral (
        select user_id, webhook_id from webhook_service.deliveries
        where status = 'pending' and parked and (user_id, webhook_id) > (key.user_id, key.webhook_id)
        order by user_id, webhook_id limit 1
      ) as following
    )`;

const DEFERRED_KEYS: Statement = {
  name: 'deferred_partition_keys',
  text: `
    ${keysAfter('$1', '$2')}
    select key.user_id as "userId", key.webhook_id as "webhookId", w.max_per_second as "maxPerSecond",
           coalesce(${PERMITS}, 1) > 0 as "mayBegin"
    from (select * from key limit $3) as key
    left join webhook_service.webhooks w on w.id = key.webhook_id
    order by key.user_id, key.webhook_id`,
};

/** The number of deferred rows, at most $2, of those of the first $1 webhooks for which `isCounted`. */
const countOf = (isCounted: string): string => `
      (select count(*)::int from (
        select from (select * from key limit $1) as key
        cross join lateral (
          select from webhook_service.deliveries d
          where d.status = 'pending' and d.parked and d.user_id = key.user_id and d.webhook_id = key.webhook_id limit $2
        ) as d
        where ${isCounted} limit $2
      ) as d)`;

const COUNT_DEFERRED: Statement = {
  name: 'count_deferred_deliveries',
  text: `
    ${keysAfter(`''`, `'${NIL}'`)}
    select ${countOf(`not ${hasRate('key')}`)} as slot, ${countOf(hasRate('key'))} as rate,
      (select count(*)::int from (
        select from webhook_service.deliveries where status = 'pending' and url is null and not claimed limit $2
      ) as d) as consumer`,
};

const COUNT_PENDING: Statement = {
  name: 'count_pending_deliveries',
  text: `
    select count(*)::int as count from (
      select from webhook_service.deliveries where webhook_id = $1 and status = 'pending' limit $2) as p`,
};

/** Deliveries without a job by what they wait for. */
export interface WaitCounts {
  slot: number;
  rate: number;
  /** Also those that are not due yet. */
  consumer: number;
}

/** A delivery to defer. */
interface Deferral {
  id: string;
  /** True when this process has claimed its row. */
  isClaimed: boolean;
}

/** The deferred deliveries: they are due, and wait for a slot or for the rate of their webhook. The column is called `parked`. */
@Injectable()
export class DeferredRepository {
  private readonly deferrals = new Batcher<Deferral, Pick<DeferredKey, 'maxPerSecond'> | null>(
    (all) => this.deferAll(all),
    MAX_BATCH,
  );

  constructor(private readonly statements: StatementsService) {}

  /**
   * Defers a pending row that is not claimed, or claimed by this process. Returns the rate of its webhook; null when there is no
   * such row. Concurrent calls share a statement.
   */
  defer(id: string, isClaimed = false): Promise<Pick<DeferredKey, 'maxPerSecond'> | null> {
    return this.deferrals.add({ id, isClaimed });
  }

  /**
   * Returns webhooks with deferred deliveries after `after`, ordered by user and id; at most `limit`. `mayBegin` is false when the
   * rate of the webhook is used up.
   */
  keys(after: PartitionKey, limit: number): Promise<(DeferredKey & { mayBegin: boolean })[]> {
    return this.statements.run<DeferredKey & { mayBegin: boolean } & Record<string, unknown>>(DEFERRED_KEYS, [
      after.userId,
      after.webhookId,
      limit,
    ]);
  }

  /**
   * Counts deliveries without a job by what they wait for, up to `limit` each. Of the deferred ones it reads those of the first
   * `webhooks` webhooks only.
   */
  async count(webhooks: number, limit: number): Promise<WaitCounts> {
    const [counts] = await this.statements.run<WaitCounts & Record<string, unknown>>(COUNT_DEFERRED, [webhooks, limit]);
    return counts ?? { slot: 0, rate: 0, consumer: 0 };
  }

  /** Counts the pending deliveries of a webhook, up to `limit`. */
  async countPending(webhookId: string, limit: number): Promise<number> {
    const [row] = await this.statements.run<{ count: number }>(COUNT_PENDING, [webhookId, limit]);
    return row?.count ?? 0;
  }

  private async deferAll(all: readonly Deferral[]): Promise<(Pick<DeferredKey, 'maxPerSecond'> | null)[]> {
    const ids = all.map(({ id }) => id);
    const claimed = all.flatMap(({ id, isClaimed }) => (isClaimed ? [id] : []));
    const rows = await this.statements.run<{ id: string; maxPerSecond: number | null }>(DEFER, [
      ids,
      ...idBounds(ids),
      claimed,
    ]);
    const deferred = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => deferred.get(id) ?? null);
  }
}
