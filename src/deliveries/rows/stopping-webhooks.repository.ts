import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { CancelReason } from '../../webhooks/webhook-lifecycle.service';
import { OutcomesRepository } from './outcomes.repository';
import { errorOfStop } from './stopping';
import type { PartitionKey } from './attempt';
import { BEFORE_ALL_IDS } from '../../infrastructure/database/id-time';
import { UserTurns } from '../../infrastructure/database/user-turns.repository';

const PAGE = 1000;

/** A webhook that is deleted while it is stopping keeps its time and place. */
const MARK = `
  insert into webhook_service.stopping_webhooks (webhook_id, user_id, reason, cursor) values ($1, $2, $3, $4)
  on conflict (webhook_id) do update set reason = excluded.reason
  returning stopped_at as "stoppedAt"`;

/** Deletes a page of webhooks of a user. All of them stop, since nothing looks for their pending rows. */
export const DELETE_AND_MARK = (limit: number): string => `
  with page as materialized (
    select id, user_id from webhook_service.webhooks where user_id = $1 limit ${limit}
  ), marked as (
    insert into webhook_service.stopping_webhooks (webhook_id, user_id, reason)
    select id, user_id, 'webhook_deleted' from page
    on conflict (webhook_id) do update set reason = excluded.reason
  )
  delete from webhook_service.webhooks where id = any(array(select id from page))`;

/** Forgets a page of the stopping webhooks of a user, as far as none of their rows is pending. */
export const FORGET_CANCELED = (limit: number): string => `
  delete from webhook_service.stopping_webhooks where webhook_id = any(array(
    select webhook_id from webhook_service.stopping_webhooks s
    where user_id = $1 and (
      select id from webhook_service.deliveries d
      where d.webhook_id between s.webhook_id and s.webhook_id and d.status = 'pending'
      order by d.webhook_id, d.event_id limit 1) is null
    limit ${limit}))`;

const TAKE = `
  select reason, stopped_at as "stoppedAt", cursor from webhook_service.stopping_webhooks
  where webhook_id = $1 for update skip locked`;

const MOVE = 'update webhook_service.stopping_webhooks set cursor = $2 where webhook_id = $1';

const FORGET = 'delete from webhook_service.stopping_webhooks where webhook_id = $1';

/** Cancels the pending rows of webhooks that stop: the first at once, the others page by page. */
@Injectable()
export class StoppingWebhooksRepository {
  readonly turns: UserTurns<PartitionKey>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly outcomes: OutcomesRepository,
  ) {
    this.turns = new UserTurns(dataSource, 'stopping_webhooks', 'true');
  }

  /**
   * Cancels the first `atOnce` pending rows of a webhook in the transaction of `manager`; null: all. Marks the webhook as
   * stopping when there are more.
   */
  async stop(manager: EntityManager, webhookId: string, reason: CancelReason, atOnce: number | null): Promise<void> {
    const most = atOnce === null ? null : atOnce + 1;
    const rows = await this.outcomes.pendingOf(manager, webhookId, BEFORE_ALL_IDS, most);
    const [first] = rows;
    if (!first) return;
    const error = errorOfStop(reason);
    if (rows.length !== most) return void (await this.outcomes.cancelStopped(manager, rows, error));
    rows.pop();
    const cursor = rows.at(-1)?.eventId ?? BEFORE_ALL_IDS;
    const [marked] = await manager.query<[Pick<Stopping, 'stoppedAt'>]>(MARK, [
      webhookId,
      first.userId,
      reason,
      cursor,
    ]);
    if (rows.length > 0) await this.outcomes.cancelStopped(manager, rows, error, marked.stoppedAt);
  }

  /**
   * Cancels the next page of rows of a stopping webhook, except those that others have locked. Returns false when nothing is left
   * to do for this process: all rows are canceled, or another process cancels a page.
   */
  cancelPage(webhookId: string): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const [stopping] = await manager.query<Stopping[]>(TAKE, [webhookId]);
      if (!stopping) return false;
      const { reason, stoppedAt, cursor } = stopping;
      const rows = await this.outcomes.pendingOf(manager, webhookId, cursor, PAGE);
      const last = rows.at(-1);
      if (!last && cursor === BEFORE_ALL_IDS) {
        await manager.query(FORGET, [webhookId]);
        return false;
      }
      // Rows that were locked are before the cursor, as are rows of attempts that began before the webhook stopped.
      await manager.query(MOVE, [webhookId, last?.eventId ?? BEFORE_ALL_IDS]);
      if (!last) return true;
      return (await this.outcomes.cancelStopped(manager, rows, errorOfStop(reason), stoppedAt)) > 0;
    });
  }
}

interface Stopping {
  reason: CancelReason;
  stoppedAt: Date;
  cursor: string;
}
