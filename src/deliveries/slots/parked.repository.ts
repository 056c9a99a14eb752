import { Injectable } from '@nestjs/common';
import { idBounds } from '../../plumbing/database/id-bounds';
import { type Statement, StatementsService } from '../../plumbing/database/statements.service';
import { PARKED_LEASE } from '../lease';
import type { Lane } from '../lane';
import { isAmong, isOneOf, isPending } from '../found-by-id';

/** Only a row that nobody has claimed: a worker that admitted a claimed one would send it a second time. */
const PARK: Statement = {
  name: 'park_deliveries',
  text: `
    with free as (
      select id from webhook_service.deliveries
      where ${isOneOf('deliveries', '$1::uuid[]')} and ${isPending('deliveries')} and not claimed and not parked
      for update skip locked
    )
    update webhook_service.deliveries d set parked = true, leased_until = now() + ${PARKED_LEASE}
    where ${isAmong('d', 'free')}
    returning d.id`,
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

  /** Parks pending rows that nobody has claimed. Answers for each, in order, whether it was parked. */
  async park(ids: readonly string[]): Promise<boolean[]> {
    const rows = await this.statements.run<{ id: string }>(PARK, [ids, ...idBounds(ids)]);
    const parked = new Set(rows.map(({ id }) => id));
    return ids.map((id) => parked.has(id));
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
