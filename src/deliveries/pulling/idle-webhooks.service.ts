import { Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { EventsService } from '../../events/events.service';
import { unlessErased } from '../../events/unless-erased';
import { logFirst, Repeat } from '../../infrastructure/concurrency/repeat.timer';
import { StatementsService } from '../../infrastructure/database/statements.service';
import { isDatabaseUnavailable, isLocked } from '../../infrastructure/errors/database-error';
import { WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { WebhookLifecycleService } from '../../webhooks/webhook-lifecycle.service';
import { BEFORE_ALL_IDS } from '../../infrastructure/database/id-time';

const POLL_INTERVAL_MS = 5000;
const MAX_A_TURN = 1000;
const NEXT_PAGE_MS = 1000;
/** Time for consumers to ask again after an outage, during which they could not. */
const GRACE_MS = 30_000;

const IS_IDLE = `
  idle_seconds is not null
  and greatest(created_at, last_leased_at) < now() - idle_seconds * interval '1 second'`;

/** In the order of their index. */
const FIND = `
  select id, ${IS_IDLE} as "isIdle" from webhook_service.webhooks
  where id > $1 and idle_seconds is not null order by id limit ${MAX_A_TURN}`;

/** Skips a webhook that another process deletes, or that a consumer has asked for deliveries meanwhile. */
const TAKE = `
  select user_id as "userId", now() as "disabledAt" from webhook_service.webhooks
  where id = $1 and ${IS_IDLE} for update skip locked`;

/** Other webhooks wait meanwhile. */
const HURRY = `set local lock_timeout = '100ms'`;

const DELETE = 'delete from webhook_service.webhooks where id = $1';

/** Deletes pull webhooks from which nobody has leased for their `idleSeconds`, and tells their owners. */
@Injectable()
export class IdleWebhooksService {
  private readonly logger = new Logger(IdleWebhooksService.name);
  /** The start of this process, or the last failure, by `performance.now()`. */
  private outageAt = performance.now();
  /** The last one of the previous turn: webhooks that cannot be deleted keep none after them waiting. */
  private lastId = BEFORE_ALL_IDS;

  constructor(
    private readonly dataSource: DataSource,
    private readonly events: EventsService,
    private readonly lifecycle: WebhookLifecycleService,
    private readonly statements: StatementsService,
    tasks: WorkerTasksService,
  ) {
    const logFailure = logFirst(this.logger, 'Deleting idle webhooks');
    const onFailure = (error: unknown, isRepeated: boolean): void => {
      this.outageAt = performance.now();
      logFailure(error, isRepeated);
    };
    tasks.add(new Repeat(() => this.deleteIdle(), { everyMs: POLL_INTERVAL_MS, onFailure }));
  }

  private async deleteIdle(): Promise<number | void> {
    const webhooks = await this.statements.runByIndex<{ id: string; isIdle: boolean }>(FIND, [this.lastId]);
    if (performance.now() - this.outageAt < GRACE_MS) return;
    for (const { id, isIdle } of webhooks) if (isIdle) await this.deleteOne(id);
    this.lastId = (webhooks.length === MAX_A_TURN && webhooks.at(-1)?.id) || BEFORE_ALL_IDS;
    if (webhooks.length === MAX_A_TURN) return NEXT_PAGE_MS;
  }

  /** Throws only while PostgreSQL is unavailable: a webhook that cannot be deleted must not keep others waiting. */
  private async deleteOne(webhookId: string): Promise<void> {
    try {
      const isDeleted = await this.dataSource.transaction((manager) => this.delete(manager, webhookId));
      if (isDeleted) this.logger.log({ msg: 'webhook deleted', webhookId, reason: 'idle' });
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      // Another transaction has locked its rows: the next turn deletes it.
      if (isLocked(error)) return;
      this.logger.warn(`Deleting the idle webhook ${webhookId} failed; retrying: ${String(error)}`);
    }
  }

  private async delete(manager: EntityManager, webhookId: string): Promise<boolean> {
    const [webhook] = await manager.query<{ userId: string; disabledAt: Date }[]>(TAKE, [webhookId]);
    if (!webhook) return false;
    await manager.query(HURRY);
    const { userId, disabledAt } = webhook;
    const data = { webhookId, url: null, reason: 'idle', disabledAt: disabledAt.toISOString() } as const;
    await unlessErased(this.events.publish('webhook.disabled', data, { userId, manager }));
    await manager.query(DELETE, [webhookId]);
    await this.lifecycle.deleted(manager, webhookId, false);
    return true;
  }
}
