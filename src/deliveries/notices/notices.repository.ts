import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ClockService } from '../../infrastructure/database/clock.service';
import { lowestIdOf } from '../../infrastructure/database/id-time';
import { StatementsService } from '../../infrastructure/database/statements.service';
import { isNoticeSql } from '../../webhooks/event-pattern';
import { IS_NOTICE_DUE } from '../../webhooks/webhook-health.service';
import type { Webhook } from '../../webhooks/webhook.entity';
import type { ErrorCode } from '../rows/delivery-error';
import { HOUR_MS } from '../../infrastructure/config/durations';

/** A webhook whose owner is yet to be told of a change. */
export interface DueNotice {
  webhookId: string;
  userId: string;
  /** False for owners who have had all notices of an hour, and inactive webhooks. */
  mayBeTold: boolean;
  /** Milliseconds until the owner may be told, by PostgreSQL's clock; 0 for now. */
  inMs: number;
}

/** The webhook that a notice is about, locked. */
export interface NoticedWebhook extends Pick<
  Webhook,
  'url' | 'active' | 'consecutiveFailures' | 'healthyAt' | 'missedCount'
> {
  failingSince: Date;
}

export interface LastError {
  code: ErrorCode | null;
  responseStatus: number | null;
}

const MOST_AN_HOUR = 60;
const MINUTE = `interval '1 minute'`;

/** The owner has had fewer notices than the limit since $1, the lowest id of an hour ago. */
const isWithinLimit = (userId: string): string => `(
  select count(*) from webhook_service.events e
  where e.user_id = ${userId} and ${isNoticeSql('e.name')} and e.id >= $1 and not e.is_test) < ${MOST_AN_HOUR}`;

/** Omits owners who have had all notices of an hour. In the order of the index of webhooks with a due notice. */
const DUE = `
  with due as materialized (
    select w.id, w.user_id, w.told_at, w.active from webhook_service.webhooks w
    where ${IS_NOTICE_DUE} and w.id > $2 order by w.id limit $3
  ), owner as materialized (
    select user_id from (select distinct user_id from due where active) as u where ${isWithinLimit('u.user_id')}
  )
  select d.id as "webhookId", d.user_id as "userId",
         d.active and exists (select from owner o where o.user_id = d.user_id) as "mayBeTold",
         greatest(0, coalesce(extract(epoch from d.told_at + ${MINUTE} - now()) * 1000, 0))::float8 as "inMs"
  from due d order by d.id`;

/** Two transactions never count the notices of a user at the same time; the second leaves it to its next turn. */
const LOCK_USER = 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as ok';

const TAKE = `
  select w.url, w.active, w.consecutive_failures as "consecutiveFailures", w.healthy_at as "healthyAt",
         w.failing_since as "failingSince", w.missed_count as "missedCount"
  from webhook_service.webhooks w
  where w.id = $2 and w.active and ${IS_NOTICE_DUE} and coalesce(w.told_at <= now() - ${MINUTE}, true)
    and ${isWithinLimit('w.user_id')}
  for no key update skip locked`;

const TOLD = `
  update webhook_service.webhooks set
    told_at = clock_timestamp(), told_failing = missed_count is null, missed_count = null,
    failing_since = case when missed_count is null then least(failing_since, $2::timestamptz) end
  where id = $1`;

/** The order is that of an index, and the range keeps its first column in it. */
const LAST_ERROR = `
  select error_code as code, response_status as "responseStatus" from webhook_service.deliveries
  where webhook_id between $1 and $1 and status = 'failed' and trigger <> 'test'
  order by webhook_id desc, id desc limit 1`;

@Injectable()
export class NoticesRepository {
  constructor(
    private readonly statements: StatementsService,
    private readonly clock: ClockService,
  ) {}

  /** Returns webhooks after an id whose owner is yet to be told, at most `limit`, in the order of their ids. */
  due(afterId: string, limit: number): Promise<DueNotice[]> {
    return this.statements.runByIndex<DueNotice>(DUE, [this.anHourAgo(), afterId, limit]);
  }

  /** Locks a webhook whose owner may be told now; null when there is nothing to tell, or another transaction has locked it. */
  async take(manager: EntityManager, { webhookId, userId }: DueNotice): Promise<NoticedWebhook | null> {
    const [lock] = await manager.query<{ ok: boolean }[]>(LOCK_USER, [`notices of ${userId}`]);
    if (!lock?.ok) return null;
    const [webhook] = await manager.query<NoticedWebhook[]>(TAKE, [this.anHourAgo(), webhookId]);
    return webhook ?? null;
  }

  /** Stores that the owner knows the current state. @param failingSince the first failure, if it is on record */
  async told(manager: EntityManager, webhookId: string, failingSince: Date | null): Promise<void> {
    await manager.query(TOLD, [webhookId, failingSince]);
  }

  /** Returns the error of the newest failed attempt. Both values are null if none is on record. */
  async lastError(webhookId: string): Promise<LastError> {
    const [error] = await this.statements.runByIndex<LastError>(LAST_ERROR, [webhookId]);
    return error ?? { code: null, responseStatus: null };
  }

  private anHourAgo(): string {
    return lowestIdOf(this.clock.now().getTime() - HOUR_MS);
  }
}
