import { Injectable } from '@nestjs/common';
import { Batcher } from '../../infrastructure/concurrency/batcher';
import { idBounds } from '../../infrastructure/database/id-bounds';
import { type Statement, StatementsService } from '../../infrastructure/database/statements.service';
import { DEFERRED_LEASE } from '../lease';
import type { PartitionKey } from '../partition-key';
import { isAmong, isOneOf, isPending } from '../found-by-id';

const MAX_BATCH = 200;

/** Defers only unclaimed rows: a claimed one would be sent a second time. */
const DEFER: Statement = {
  name: 'defer_deliveries',
  text: `
    with free as (
      select id from webhook_service.deliveries
      where ${isOneOf('deliveries', '$1::uuid[]')} and ${isPending('deliveries')} and not claimed and not parked
      for update skip locked
    )
    update webhook_service.deliveries d set parked = true, leased_until = now() + ${DEFERRED_LEASE}
    where ${isAmong('d', 'free')}
    returning d.id`,
};

/** Reads one row per webhook from the index of deferred rows, however many rows each webhook has. */
const DEFERRED_KEYS: Statement = {
  name: 'deferred_partition_keys',
  text: `
    with recursive key as (
      (select user_id, webhook_id from webhook_service.deliveries
       where status = 'pending' and parked and (user_id, webhook_id) > ($1::text, $2::uuid)
       order by user_id, webhook_id limit 1)
      union all
      select following.* from key cross join lateral (
        select user_id, webhook_id from webhook_service.deliveries
        where status = 'pending' and parked and (user_id, webhook_id) > (key.user_id, key.webhook_id)
        order by user_id, webhook_id limit 1
      ) as following
    )
    select user_id as "userId", webhook_id as "webhookId" from key limit $3`,
};

const COUNT_DEFERRED: Statement = {
  name: 'count_deferred_deliveries',
  text: `
    select count(*)::int as count
    from (select from webhook_service.deliveries where status = 'pending' and parked limit $1) as p`,
};

/** The rows of deferred deliveries, which are due and wait for a slot. The column is called `parked`. */
@Injectable()
export class DeferredRepository {
  private readonly deferrals = new Batcher<string, boolean>((ids) => this.deferAll(ids), MAX_BATCH);

  constructor(private readonly statements: StatementsService) {}

  /** Defers a pending row that is not claimed; returns false when there is none. Concurrent calls share a statement. */
  defer(id: string): Promise<boolean> {
    return this.deferrals.add(id);
  }

  /** Returns webhooks with deferred deliveries after `after`, ordered by user and id; at most `limit`. */
  keys(after: PartitionKey, limit: number): Promise<PartitionKey[]> {
    return this.statements.run<PartitionKey & Record<string, unknown>>(DEFERRED_KEYS, [
      after.userId,
      after.webhookId,
      limit,
    ]);
  }

  /** Counts deferred deliveries, up to `limit`. */
  async count(limit: number): Promise<number> {
    const [row] = await this.statements.run<{ count: number }>(COUNT_DEFERRED, [limit]);
    return row?.count ?? 0;
  }

  private async deferAll(ids: readonly string[]): Promise<boolean[]> {
    const rows = await this.statements.run<{ id: string }>(DEFER, [ids, ...idBounds(ids)]);
    const deferred = new Set(rows.map(({ id }) => id));
    return ids.map((id) => deferred.has(id));
  }
}
