import { Injectable } from '@nestjs/common';
import { StatementsService, statement } from '../../infrastructure/database/statements.service';
import { hasRate } from '../rows/lease';
import { isStopped, isStopping } from '../rows/stopping';
import type { PartitionKey } from '../rows/attempt';
import { PERMITS } from '../rows/rate';

const NIL = '00000000-0000-0000-0000-000000000000';

export interface DeferredKey extends PartitionKey {
  maxPerSecond: number | null;
}

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

const DEFERRED_KEYS = statement('deferred_partition_keys')`
    ${keysAfter('$1', '$2')}
    select key.user_id as "userId", key.webhook_id as "webhookId", w.max_per_second as "maxPerSecond",
           coalesce(${PERMITS}, 1) > 0 and not ${isStopping('key.webhook_id')} as "mayBegin"
    from (select * from key limit $3) as key
    left join webhook_service.webhooks w on w.id = key.webhook_id
    order by key.user_id, key.webhook_id`;

/** The number of deferred rows, at most $2, of those of the first $1 webhooks that are not stopping and for which `isCounted`. */
const countOf = (isCounted: string): string => `
      (select count(*)::int from (
        select from (select * from key limit $1) as key
        cross join lateral (
          select from webhook_service.deliveries d
          where d.status = 'pending' and d.parked and d.user_id = key.user_id and d.webhook_id = key.webhook_id limit $2
        ) as d
        where ${isCounted} and not ${isStopping('key.webhook_id')} limit $2
      ) as d)`;

const COUNT_DEFERRED = statement('count_deferred_deliveries')`
    ${keysAfter(`''`, `'${NIL}'`)}
    select ${countOf(`not ${hasRate('key')}`)} as slot, ${countOf(hasRate('key'))} as rate,
      (select count(*)::int from (
        select trigger, webhook_id from webhook_service.deliveries
        where status = 'pending' and url is null and not claimed limit $2
      ) as d where not ${isStopped('d')}) as consumer`;

const COUNT_PENDING = statement('count_pending_deliveries')`
    select count(*)::int as count from (
      select from webhook_service.deliveries where webhook_id = $1 and status = 'pending' limit $2) as p`;

export interface WaitCounts {
  slot: number;
  rate: number;
  /** Also those that are not due yet. Fewer while one with many of them is stopping. */
  consumer: number;
}

/** Reads the deferred deliveries: they are due, and wait for a slot or for the rate of their webhook. The column is called `parked`. */
@Injectable()
export class DeferredRepository {
  constructor(private readonly statements: StatementsService) {}

  /** By user and id, at most `limit`. `mayBegin` is false when the rate of the webhook is used up, and while it is stopping. */
  keys(after: PartitionKey, limit: number): Promise<(DeferredKey & { mayBegin: boolean })[]> {
    return this.statements.run<DeferredKey & { mayBegin: boolean } & Record<string, unknown>>(DEFERRED_KEYS, [
      after.userId,
      after.webhookId,
      limit,
    ]);
  }

  /** Counts up to `limit` of each; of the deferred ones those of the first `webhooks` webhooks only. */
  async count(webhooks: number, limit: number): Promise<WaitCounts> {
    const [counts] = await this.statements.run<WaitCounts & Record<string, unknown>>(COUNT_DEFERRED, [webhooks, limit]);
    return counts ?? { slot: 0, rate: 0, consumer: 0 };
  }

  async countPending(webhookId: string, limit: number): Promise<number> {
    const [row] = await this.statements.run<{ count: number }>(COUNT_PENDING, [webhookId, limit]);
    return row?.count ?? 0;
  }
}
