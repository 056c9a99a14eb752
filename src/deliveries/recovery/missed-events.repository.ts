import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import type { ErrorCode } from '../rows/delivery-error';
import { isNotAbout, patternsSql, subjectSql } from '../../webhooks/event-pattern';
import { RetentionCutoffService } from '../rows/retention-cutoff.service';

/** A time window of events for one webhook, bounded by event ids. */
export interface EventWindow {
  webhookId: string;
  userId: string;
  firstId: string;
  /** The first id after the window. */
  untilId: string;
  event: string | null;
  /** Only events whose newest delivery has this error; null for all missed events. */
  error: ErrorCode | null;
}

/** An event that the webhook should have received, by the event's name and audience. */
export interface Candidate {
  id: string;
  missed: boolean;
}

/** Tolerance for the order of a fan-out and an activation at the same moment, which are two transactions. */
const SLACK = `interval '5 seconds'`;

const IN_WINDOW = 'id >= $3 and id > $7 and id < $4 and ($5::text is null or name = $5)';

/**
 * $1 webhook, $2 owner, $3 first id, $4 id after the window, $5 name, $6 error, $7 id to continue after.
 * Each audience has a branch, so that both are index scans.
 */
const CANDIDATES = `
  select w.id as webhook_id, e.id, e.accepted_at, e.fanned_out_at
  from webhook_service.webhooks w
  cross join lateral (
    select * from webhook_service.events where user_id = $2 and ${IN_WINDOW}
    union all
    select * from webhook_service.events where user_id is null and ${IN_WINDOW}
  ) as e
  where w.id = $1 and not e.is_test and e.accepted_at > w.created_at
    and ${isNotAbout(subjectSql('e.name', 'e.body'))} and w.events && (${patternsSql('e.name')})`;

/**
 * An event is missed when its newest delivery failed permanently, or was canceled because the webhook was disabled or had too many
 * pending deliveries, or when it has no delivery because the webhook was inactive at its fan-out. A pending delivery may still
 * arrive: its event is not missed.
 */
const MISSED = `
  not exists (
    select from webhook_service.deliveries p
    where p.webhook_id = c.webhook_id and p.event_id = c.id and p.status = 'pending')
  and ($6::text is null or newest.error_code = $6)
  and (newest.status = 'failed' or newest.error_code in ('webhook_disabled', 'backlog_full')
    or newest.status is null and exists (
      select from webhook_service.webhook_pauses p
      where p.webhook_id = c.webhook_id and p.started_at <= c.fanned_out_at
        and coalesce(p.ended_at + ${SLACK}, 'infinity') >= c.accepted_at))`;

/** A delivery is never older than its event, so the bound lets PostgreSQL skip partitions. */
const NEWEST = `
  left join lateral (
    select d.status, d.error_code from webhook_service.deliveries d
    where d.user_id = $2 and d.event_id = c.id and d.webhook_id = c.webhook_id and d.id >= $3
    order by d.id desc limit 1
  ) as newest on true`;

/** The newest come first, because those count when there are too many. */
const NEWEST_MISSED = `select c.id from (${CANDIDATES}) as c ${NEWEST} where ${MISSED} order by c.id desc limit $8`;

const COUNT = `select count(*)::int as count from (${CANDIDATES}) as c ${NEWEST} where ${MISSED}`;

const PAGE = `
  select c.id, ${MISSED} as missed
  from (${CANDIDATES} order by e.id limit $8) as c ${NEWEST}
  order by c.id`;

const NIL = '00000000-0000-0000-0000-000000000000';

@Injectable()
export class MissedEventsRepository {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly cutoff: RetentionCutoffService,
  ) {}

  /** Counts the events of the window that the webhook has missed. */
  async count(window: EventWindow): Promise<number> {
    const [row] = await this.dataSource.query<{ count: number }[]>(COUNT, [...this.bounds(window), NIL]);
    return row?.count ?? 0;
  }

  /** Returns the ids of the newest events of the window that the webhook has missed, newest first. */
  async newest(window: EventWindow, limit: number): Promise<string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(NEWEST_MISSED, [...this.bounds(window), NIL, limit]);
    return rows.map(({ id }) => id);
  }

  /** Returns the next candidates after an event, oldest first. Fewer than `limit` means that no more follow. */
  page(manager: EntityManager, window: EventWindow, after: string, limit: number): Promise<Candidate[]> {
    return manager.query<Candidate[]>(PAGE, [...this.bounds(window), after, limit]);
  }

  private bounds({ webhookId, userId, firstId, untilId, event, error }: EventWindow): (string | null)[] {
    const firstKeptId = this.cutoff.firstKeptId();
    return [webhookId, userId, firstId > firstKeptId ? firstId : firstKeptId, untilId, event, error];
  }
}
