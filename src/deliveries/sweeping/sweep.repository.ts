import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { StoredEvent } from '../../events/fan-out.queue';
import { idBounds } from '../../infrastructure/database/id-time';
import { type Statement, StatementsService } from '../../infrastructure/database/statements.service';
import { expiredLeases, freeEvents, isAmong, isOneOf } from '../rows/found-by-id';
import { EVENT_LEASE } from '../rows/lease';

const RECLAIM_EVENTS: Statement = {
  name: 'reclaim_events',
  text: `
    ${expiredLeases('events', 'fanned_out_at is null')}
    update webhook_service.events e set claimed = false, leased_until = now() + ${EVENT_LEASE}
    where ${isAmong('e', 'expired', 'found')}
    returning e.id, coalesce(e.user_id, e.publisher_id, '') as "userId"`,
};

const RELEASE_EVENTS = `
  with free as materialized (${freeEvents('$1::uuid[]', 'and not claimed')})
  update webhook_service.events set leased_until = now()
  where ${isOneOf('events', 'array(select id from free)')}`;

/** Counts at most $1 rows of each kind. Sweeps run every second: a row that expired 5 s ago means that sweeping is stuck. */
const COUNT_EXPIRED = `
  select
    (select count(*)::int from (
      select from webhook_service.events
      where fanned_out_at is null and leased_until < now() - interval '5 seconds' limit $1) as e) as events,
    (select count(*)::int from (
      select from webhook_service.deliveries
      where status = 'pending' and leased_until < now() - interval '5 seconds' limit $1) as d) as deliveries`;

/** Takes over expired leases of events; `WaitingRowsRepository` those of deliveries. */
@Injectable()
export class SweepRepository {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly statements: StatementsService,
  ) {}

  /** Takes over events whose leases ended within `withinMs` (null: any time). The caller enqueues jobs for them. */
  async reclaimEvents(limit: number, withinMs: number | null): Promise<StoredEvent[]> {
    return this.statements.run<StoredEvent & Record<string, unknown>>(RECLAIM_EVENTS, [limit, withinMs]);
  }

  /** Ends the leases of events that could not be enqueued, so that the next sweep takes them. */
  async releaseEvents(ids: readonly string[]): Promise<void> {
    await this.dataSource.query(RELEASE_EVENTS, [ids, ...idBounds(ids)]);
  }

  /** Counts the rows that expired more than 5 s ago, up to `limit` of each kind. */
  async countExpired(limit: number): Promise<{ events: number; deliveries: number }> {
    const [counts] = await this.dataSource.query<{ events: number; deliveries: number }[]>(COUNT_EXPIRED, [limit]);
    return { events: 0, deliveries: 0, ...counts };
  }

  async assertReachable(): Promise<void> {
    await this.dataSource.query('select 1');
  }
}
