import { Injectable } from '@nestjs/common';
import { idBounds } from '../../plumbing/database/id-bounds';
import { StatementsService, type Statement } from '../../plumbing/database/statements.service';
import type { LetIn } from './parked-lanes';
import { ATTENDED, PARKED } from '../deliveries.statements';
import type { Lane } from './fair-share';

const PARK: Statement = {
  name: 'park_deliveries',
  text: `
    update webhook_service.deliveries set parked = true, attended_until = now() + ${PARKED}
    where id = any($1::uuid[]) and id between $2 and $3 and status = 'pending'`,
};

/** The oldest first. Two workers never let in the same row. */
const LET_IN: Statement = {
  name: 'let_in_deliveries',
  text: `
    update webhook_service.deliveries d
    set parked = false, attended_until = now() + ${ATTENDED}
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

/** From one webhook to the next in the index of parked rows, however many rows each of them has. */
const BACKLOGGED: Statement = {
  name: 'backlogged_webhooks',
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

/** Deliveries that are due and wait in their rows until their webhook, their user and the process have room for them. */
@Injectable()
export class ParkedRepository {
  constructor(private readonly statements: StatementsService) {}

  async park(deliveryIds: readonly string[]): Promise<void> {
    await this.statements.run(PARK, [deliveryIds, ...idBounds(deliveryIds)]);
  }

  /** The caller makes their attempts at once. */
  letIn(wanted: readonly LetIn[]): Promise<{ id: string; webhookId: string }[]> {
    return this.statements.run(LET_IN, [
      wanted.map(({ userId }) => userId),
      wanted.map(({ webhookId }) => webhookId),
      wanted.map(({ count }) => count),
    ]);
  }

  /** Webhooks with parked deliveries, by user and id, that follow `after`. */
  backlogged(after: Lane, limit: number): Promise<Lane[]> {
    return this.statements.run<Lane & Record<string, unknown>>(BACKLOGGED, [after.userId, after.webhookId, limit]);
  }

  /** At most `limit`. */
  async count(limit: number): Promise<number> {
    const [row] = await this.statements.run<{ count: number }>(COUNT_PARKED, [limit]);
    return row?.count ?? 0;
  }
}
