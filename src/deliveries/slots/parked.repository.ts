import { Injectable } from '@nestjs/common';
import { idBounds } from '../../plumbing/database/id-bounds';
import { type Statement, StatementsService } from '../../plumbing/database/statements.service';
import type { DueDelivery } from '../attempt';
import { JOB_LEASE, PARKED_LEASE } from '../lease';
import type { Lane } from './fair-share';
import type { Admission } from './lane-turns';

/**
 * Only a row whose lease is still the one that was read. Between reading and parking the sweeper may have taken an expired
 * lease, and its job may be sending the delivery: a worker that admitted the parked row would send it a second time.
 */
const PARK: Statement = {
  name: 'park_deliveries',
  text: `
    update webhook_service.deliveries d set parked = true, leased_until = now() + ${PARKED_LEASE}
    from unnest($1::uuid[], $2::float8[]) as read (id, leased_until_ms)
    where d.id = read.id and d.id between $3 and $4 and d.status = 'pending'
      and d.leased_until = to_timestamp(read.leased_until_ms / 1000)::timestamptz(3)
    returning d.id`,
};

/** The oldest first. Two workers never admit the same row. */
const ADMIT: Statement = {
  name: 'admit_deliveries',
  text: `
    update webhook_service.deliveries d
    set parked = false, leased_until = now() + ${JOB_LEASE}
    from (
      select first.id, first.webhook_id
      from unnest($1::text[], $2::uuid[], $3::int[]) as wanted (user_id, webhook_id, count)
      cross join lateral (
        select id, webhook_id from webhook_service.deliveries p
        where p.user_id = wanted.user_id and p.webhook_id = wanted.webhook_id and p.status = 'pending' and p.parked
        order by p.id limit wanted.count for update skip locked
      ) as first
    ) as chosen
    where d.id = chosen.id
    returning d.id, d.webhook_id as "webhookId"`,
};

/** Goes from one webhook to the next in the index of parked rows, however many rows each of them has. */
const PARKED_LANES: Statement = {
  name: 'parked_lanes',
  text: `
    with recursive lane as (
      (select user_id, webhook_id from webhook_service.deliveries
       where status = 'pending' and parked and (user_id, webhook_id) > ($1::text, $2::uuid)
       order by user_id, webhook_id limit 1)
      union all
      select following.* from lane cross join lateral (
        select user_id, webhook_id from webhook_service.deliveries
        where status = 'pending' and parked and (user_id, webhook_id) > (lane.user_id, lane.webhook_id)
        order by user_id, webhook_id limit 1
      ) as following
    )
    select user_id as "userId", webhook_id as "webhookId" from lane limit $3`,
};

const COUNT_PARKED: Statement = {
  name: 'count_parked_deliveries',
  text: `
    select count(*)::int as count
    from (select from webhook_service.deliveries where status = 'pending' and parked limit $1) as p`,
};

/** Deliveries that are due and wait in their rows until their webhook, their user and the process have a slot for them. */
@Injectable()
export class ParkedRepository {
  constructor(private readonly statements: StatementsService) {}

  /** Parks pending rows whose lease is the one that was read. Answers for each, in order, whether it was parked. */
  async park(due: readonly Pick<DueDelivery, 'id' | 'leasedUntilMs'>[]): Promise<boolean[]> {
    const ids = due.map(({ id }) => id);
    const leases = due.map(({ leasedUntilMs }) => leasedUntilMs);
    const rows = await this.statements.run<{ id: string }>(PARK, [ids, leases, ...idBounds(ids)]);
    const parked = new Set(rows.map(({ id }) => id));
    return ids.map((id) => parked.has(id));
  }

  /** Takes parked rows, at most as many of each webhook as wanted. The caller makes their attempts at once. */
  admit(wanted: readonly Admission[]): Promise<{ id: string; webhookId: string }[]> {
    return this.statements.run(ADMIT, [
      wanted.map(({ userId }) => userId),
      wanted.map(({ webhookId }) => webhookId),
      wanted.map(({ count }) => count),
    ]);
  }

  /** Webhooks with parked deliveries that follow `after`, in the order of user and id; at most `limit`. */
  lanes(after: Lane, limit: number): Promise<Lane[]> {
    return this.statements.run<Lane & Record<string, unknown>>(PARKED_LANES, [after.userId, after.webhookId, limit]);
  }

  /** How many deliveries are parked; counts no further than `limit`. */
  async count(limit: number): Promise<number> {
    const [row] = await this.statements.run<{ count: number }>(COUNT_PARKED, [limit]);
    return row?.count ?? 0;
  }
}
