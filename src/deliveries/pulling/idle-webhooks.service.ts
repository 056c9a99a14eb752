import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { EventsService } from '../../events/events.service';
import { unlessErased } from '../../events/unless-erased';
import { isLocked } from '../../infrastructure/errors/database-error';
import { logFirst, Repeat } from '../../infrastructure/concurrency/repeat.timer';
import { WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { WebhookLifecycleService } from '../../webhooks/webhook-lifecycle.service';

const POLL_INTERVAL_MS = 5000;
const MAX_A_TURN = 100;
/** Time for consumers to ask again after an outage, during which they could not. */
const GRACE_MS = 30_000;

const IS_IDLE = `
  idle_seconds is not null
  and greatest(created_at, last_leased_at) < now() - idle_seconds * interval '1 second'`;

const FIND = `select id from webhook_service.webhooks where ${IS_IDLE} order by id limit ${MAX_A_TURN}`;

/** Skips a webhook that another process deletes, or that a consumer has asked for deliveries meanwhile. */
const TAKE = `
  select user_id as "userId", now() as "disabledAt" from webhook_service.webhooks
  where id = $1 and ${IS_IDLE} for update skip locked`;

/** Other webhooks wait meanwhile. */
const HURRY = `set local lock_timeout = '100ms'`;

const DELETE = 'delete from webhook_service.webhooks where id = $1';

/** The next turn deletes a webhook with rows that another transaction has locked. */
function unlessLocked(error: unknown): boolean {
  if (isLocked(error)) return false;
  throw error;
}

/** Deletes pull webhooks from which nobody has leased for their `idleSeconds`, and tells their owners. */
@Injectable()
export class IdleWebhooksService {
  private readonly logger = new Logger(IdleWebhooksService.name);
  /** The start of this process, or the last failure, by `performance.now()`. */
  private outageAt = performance.now();

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly events: EventsService,
    private readonly lifecycle: WebhookLifecycleService,
    tasks: WorkerTasksService,
  ) {
    const logFailure = logFirst(this.logger, 'Deleting idle webhooks');
    const onFailure = (error: unknown, isRepeated: boolean): void => {
      this.outageAt = performance.now();
      logFailure(error, isRepeated);
    };
    tasks.add(new Repeat(() => this.deleteIdle(), { everyMs: POLL_INTERVAL_MS, onFailure }));
  }

  private async deleteIdle(): Promise<void> {
    const idle = await this.dataSource.query<{ id: string }[]>(FIND);
    if (performance.now() - this.outageAt < GRACE_MS) return;
    for (const { id: webhookId } of idle) {
      const isDeleted = await this.dataSource
        .transaction((manager) => this.delete(manager, webhookId))
        .catch(unlessLocked);
      if (isDeleted) this.logger.log({ msg: 'webhook deleted', webhookId, reason: 'idle' });
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
    await this.lifecycle.deleted(manager, webhookId);
    return true;
  }
}
