import { Injectable } from '@nestjs/common';
import { isLive } from '../../auth/live-token';
import { idBounds } from '../../infrastructure/database/id-time';
import { StatementsService, statement } from '../../infrastructure/database/statements.service';
import type { Attempted } from '../rows/attempt';
import { isOneOf, isPending } from '../rows/found-by-id';
import { isStopped } from '../rows/stopping';
import type { LeaseKey } from '../rows/lease';

export interface HeldLease extends Attempted {
  attemptedAt: Date;
  durationMs: number;
  leaseMs: number;
  /** Delays of the webhook before each retry; null: the plan of the service. */
  retryDelaysMs: number[] | null;
}

const NOTE_CONSUMER = statement('note_consumer')`
    with free as (
      -- Skip a webhook that another transaction has locked; the next lease stores its time.
      select id from webhook_service.webhooks
      where id = $1 and coalesce(last_leased_at < now() - interval '1 second', true)
      for no key update skip locked
    )
    update webhook_service.webhooks w
    set last_leased_at = now(), last_leased_by = (select name from webhook_service.access_tokens where id = $2)
    from free where w.id = free.id`;

const HELD_COLUMNS = `
  d.id, d.webhook_id as "webhookId", d.user_id as "userId", d.event_id as "eventId", d.event, d.attempt, d.trigger,
  d.lease_id as "leaseId", d.attempted_at as "attemptedAt",
  floor(extract(epoch from greatest(now() - d.attempted_at, '0')) * 1000)::int as "durationMs",
  (extract(epoch from d.leased_until - d.attempted_at) * 1000)::int as "leaseMs",
  d.request_headers ->> 'traceparent' as traceparent,
  (select w.retry_delays_ms from webhook_service.webhooks w where w.id = d.webhook_id) as "retryDelaysMs"`;

/** Compares the webhook as text: by an index of webhooks it would read all its rows. */
const HELD = statement('held_leases')`
    select ${HELD_COLUMNS} from webhook_service.deliveries d
    where ${isOneOf('d', '$1::uuid[]')} and ${isPending('d')} and d.claimed
      and d.webhook_id::text = $4 and d.lease_id = any($5::uuid[]) and not ${isStopped('d')}`;

const ENDED = statement('ended_leases')`
    select ${HELD_COLUMNS} from webhook_service.deliveries d
    where d.status = 'pending' and d.url is null and d.claimed and d.leased_until <= now() and d.webhook_id <> all($2::uuid[])
      and not ${isStopped('d')}
    order by d.leased_until limit $1`;

const WAITED_FOR = statement('waited_for_deliveries')`
    select
      array(select w.id from unnest($1::uuid[]) as w (id) where (
        select d.scheduled_at from webhook_service.deliveries d
        where d.webhook_id between w.id and w.id and d.status = 'pending' and d.url is null and not d.claimed
        order by d.webhook_id, d.scheduled_at, d.event_id limit 1
      ) <= now() and coalesce((select k.active from webhook_service.webhooks k where k.id = w.id), false)
        or not exists (select from webhook_service.webhooks known where known.id = w.id)) as "dueWebhooks",
      array(select t.id from webhook_service.access_tokens t
            where t.id = any($2::uuid[]) and ${isLive('t')}) as "liveTokens"`;

@Injectable()
export class ConsumerLeasesRepository {
  constructor(private readonly statements: StatementsService) {}

  async noteConsumer(webhookId: string, tokenId: string | null): Promise<void> {
    await this.statements.run(NOTE_CONSUMER, [webhookId, tokenId]);
  }

  /** Returns the attempts with these leases that have no outcome yet, by the random part of the lease. */
  async held(webhookId: string, keys: readonly LeaseKey[]): Promise<Map<string, HeldLease>> {
    if (keys.length === 0) return new Map();
    const ids = keys.map(({ deliveryId }) => deliveryId);
    const randoms = keys.map(({ random }) => random);
    const values = [ids, ...idBounds(ids), webhookId, randoms];
    const rows = await this.statements.run<HeldLease & { leaseId: string }>(HELD, values);
    const wanted = new Set(keys.map(({ deliveryId, random }) => `${deliveryId} ${random}`));
    const own = rows.filter(({ id, leaseId }) => wanted.has(`${id} ${leaseId}`));
    return new Map(own.map(({ leaseId, ...row }) => [leaseId, row]));
  }

  /** Returns attempts whose lease has ended without an outcome, at most `limit`, of webhooks other than these. */
  ended(limit: number, except: readonly string[]): Promise<HeldLease[]> {
    return this.statements.run<HeldLease & Record<string, unknown>>(ENDED, [limit, except]);
  }

  /** The webhooks that have deliveries to lease, or are deleted, and the access tokens that are valid. */
  async waitedFor(webhookIds: readonly string[], tokenIds: readonly string[]): Promise<WaitedFor> {
    const [found] = await this.statements.run<WaitedFor & Record<string, unknown>>(WAITED_FOR, [webhookIds, tokenIds]);
    return found ?? { dueWebhooks: [], liveTokens: [] };
  }
}

export interface WaitedFor {
  dueWebhooks: string[];
  liveTokens: string[];
}
