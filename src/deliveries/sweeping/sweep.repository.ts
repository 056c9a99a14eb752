import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { StoredEvent } from '../../events/fan-out.queue';
import { idBounds } from '../../infrastructure/database/id-time';
import { type Statement, StatementsService } from '../../infrastructure/database/statements.service';
import { freeEvents, IS_OPEN, isAmong, isOneOf } from '../rows/found-by-id';
import { EVENT_LEASE } from '../rows/lease';

/** For each event that it takes, the sweeper looks at so many: others may have locked the first, or one user may have most. */
const LOOKED_AT = 10;

/**
 * Reads the events whose leases ended first, of which users take turns. Those of $3 have enough, and others may be behind theirs:
 * the next page begins after $4.
 */
const RECLAIM_EVENTS: Statement = {
  name: 'reclaim_events',
  text: `
    with found as materialized (
      select id, leased_until, coalesce(user_id, publisher_id, '') as user_id from webhook_service.events
      where fanned_out_at is null and leased_until <= now()
        and leased_until > greatest(now() - $2::float8 * interval '1 ms', $4::timestamptz, '-infinity')
      order by leased_until limit ${LOOKED_AT} * $1
    ), turns as materialized (
      select id from (
        select id, leased_until, row_number() over (partition by user_id order by leased_until) as turn
        from found where user_id <> all($3::text[])
      ) as each order by turn, leased_until limit $1
    ), expired as materialized (
      select id from webhook_service.events e
      where ${isAmong('e', 'turns', 'found')} and ${IS_OPEN} and leased_until <= now() for update skip locked
    ), taken as (
      update webhook_service.events e set claimed = false, leased_until = now() + ${EVENT_LEASE}
      where ${isAmong('e', 'expired', 'found')}
      returning e.id, coalesce(e.user_id, e.publisher_id, '') as user_id
    )
    select taken.id, taken.user_id as "userId", page."isLocked", page.next
    from (
      select (select max(leased_until) from found having count(*) = ${LOOKED_AT} * $1) as next,
             (select count(*) from expired) < (select count(*) from turns) as "isLocked"
    ) as page left join taken on true`,
};

interface ReclaimedPage {
  events: StoredEvent[];
  /** Where the next page begins; null when there is none. */
  next: Date | null;
  /** Whether others have locked events of the page. */
  isLocked: boolean;
}

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

  /**
   * Takes over events whose leases ended within `withinMs` (null: any time), of all users but some. The caller enqueues jobs for
   * them.
   * @param after where the page begins: the end of a lease; null: with the first
   */
  async reclaimEvents(
    limit: number,
    withinMs: number | null,
    except: readonly string[] = [],
    after: Date | null = null,
  ): Promise<ReclaimedPage> {
    type Row = StoredEvent & { id: string | null } & Pick<ReclaimedPage, 'next' | 'isLocked'>;
    const rows = await this.statements.run<Row>(RECLAIM_EVENTS, [limit, withinMs, except, after]);
    const events = rows.filter(({ id }) => id !== null).map(({ id, userId }) => ({ id, userId }));
    const [{ next, isLocked }] = rows as [Row];
    return { events, next, isLocked };
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
