import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { UserTurns } from '../../infrastructure/database/user-turns.repository';
import type { PageRequest, Page } from '../../infrastructure/pagination/page';
import { newestFirst } from '../../infrastructure/pagination/newest-first.query';
import type { Webhook } from '../../webhooks/webhook.entity';
import { Recovery } from './recovery.entity';

/** Maximum number of recoveries of a webhook that are kept, apart from the running one. */
const MAX_KEPT = 1000;

/** Redeliveries are inserted under this lock, so that two transactions never both see an event without a pending attempt. */
const LOCK_WEBHOOK = 'select active, filter, events, url from webhook_service.webhooks where id = $1 for no key update';

/** The partial unique index lets only one of several concurrent inserts succeed. */
const INSERT = `
  insert into webhook_service.recoveries
    (id, webhook_id, user_id, count, first_id, until_id, event, error, cursor, status, completed_at)
  select $1, $2, $3, $4::int, $5, $6, $7, $8, $5, case when $9 then 'done' else 'running' end,
         case when $9 then now() end
  on conflict (webhook_id) where status = 'running' do nothing
  returning id`;

/** Deletes old recoveries of a webhook, a page at a time: a webhook with any number of them could not be deleted. */
const FORGET_OLDEST = `
  delete from webhook_service.recoveries where id = any(array(
    select id from webhook_service.recoveries where webhook_id between $1 and $1 and status <> 'running'
    order by webhook_id desc, id desc offset ${MAX_KEPT} limit 100))`;

const ADVANCE = `
  update webhook_service.recoveries set cursor = $2, queued = queued + $3 where id = $1 and status = 'running'`;

const END = `
  update webhook_service.recoveries set status = 'done', completed_at = now(), count = coalesce(count, queued)
  where webhook_id = $1 and status = 'running'`;

/** A recovery waits only for the first attempts of its redeliveries. Retries are due later, at times of their own. */
const UNSENT = `
  select count(*)::int as count from (
    select 1 from webhook_service.deliveries
    where webhook_id = $1 and status = 'pending' and trigger = 'redelivery' and attempt = 1
    limit $2
  ) as unsent`;

export type NewRecovery = Omit<Recovery, 'status' | 'queued' | 'cursor' | 'createdAt' | 'completedAt'>;

type LockedWebhook = Pick<Webhook, 'active' | 'filter' | 'events' | 'url'>;

export type RunningRecovery = Pick<Recovery, 'id' | 'webhookId' | 'userId'>;

/** Stores the progress of recoveries. Methods with a `manager` must be called under the lock of the webhook. */
@Injectable()
export class RecoveriesRepository {
  /** Of running recoveries. */
  readonly turns: UserTurns<RunningRecovery>;

  constructor(@InjectRepository(Recovery) private readonly recoveries: Repository<Recovery>) {
    this.turns = new UserTurns(recoveries.manager.dataSource, 'recoveries', "status = 'running'", ', id');
  }

  /**
   * Inserts a recovery and returns it as inserted: once it is committed, any process may continue it. A recovery without events
   * (`isDone`) ends at once. Returns null while another recovery of the same webhook is running.
   */
  insert(recovery: NewRecovery, isDone: boolean): Promise<Recovery | null> {
    const { id, webhookId, userId, count, firstId, untilId, event, error } = recovery;
    return this.recoveries.manager.transaction(async (manager) => {
      await manager.query(FORGET_OLDEST, [webhookId]);
      const values = [id, webhookId, userId, count, firstId, untilId, event, error, isDone];
      const rows = await manager.query<unknown[]>(INSERT, values);
      return rows.length > 0 ? manager.findOneByOrFail(Recovery, { id }) : null;
    });
  }

  find(userId: string, webhookId: string, id: string): Promise<Recovery | null> {
    return this.recoveries.findOneBy({ userId, webhookId, id });
  }

  list(userId: string, webhookId: string, page: PageRequest): Promise<Page<Recovery>> {
    const query = this.recoveries.createQueryBuilder('r').where({ userId, webhookId });
    return newestFirst(query, page, [userId, `recoveries of ${webhookId}`, {}]);
  }

  /** Locks a webhook. Returns null when it is deleted; if not `isPatient`, also when another transaction has locked it. */
  async lockWebhook(manager: EntityManager, webhookId: string, isPatient: boolean): Promise<LockedWebhook | null> {
    const lock = isPatient ? LOCK_WEBHOOK : `${LOCK_WEBHOOK} skip locked`;
    const [webhook] = await manager.query<LockedWebhook[]>(lock, [webhookId]);
    return webhook ?? null;
  }

  /** Reads the recovery again and locks it; returns null when it is done, or another transaction has locked it. */
  reread(manager: EntityManager, id: string): Promise<Recovery | null> {
    const lock = { mode: 'pessimistic_write', onLocked: 'skip_locked' } as const;
    return manager.findOne(Recovery, { where: { id, status: 'running' }, lock });
  }

  async advance(manager: EntityManager, id: string, cursor: string, queued: number): Promise<void> {
    await manager.query(ADVANCE, [id, cursor, queued]);
  }

  async end(manager: EntityManager, webhookId: string): Promise<void> {
    await manager.query(END, [webhookId]);
  }

  /** Counts the redeliveries of the webhook that have not been sent yet, up to `most`. */
  async unsent(manager: EntityManager, webhookId: string, most: number): Promise<number> {
    const [row] = await manager.query<{ count: number }[]>(UNSENT, [webhookId, most]);
    return row?.count ?? 0;
  }
}
