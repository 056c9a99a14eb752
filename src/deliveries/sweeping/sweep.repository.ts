import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { PARKED, RENEWED } from '../deliveries.statements';
import { SEND_QUEUE_INDEX } from '../send-queue-names';

/** How long a renewed reminder of an event is trusted before it is renewed again. */
const TRUSTED = `interval '10 seconds'`;
/**
 * After the queue was emptied everything is unattended, in 1 to 3 s: attempts that are being made have time to end, and
 * receivers are not stormed.
 */
const SOON = `(1 + 2 * random()) * interval '1 second'`;

/** Two sweepers never take the same rows; one that finds nothing has read an empty partial index. */
const RENEW_EVENTS = `
  update webhook_service.events e set attended_until = now() + ${TRUSTED}
  from (
    select id from webhook_service.events
    where fanned_out_at is null and attended_until <= now()
    order by attended_until limit $1 for update skip locked
  ) as unattended
  where e.id = unattended.id
  returning e.id`;

const UNATTENDED_DELIVERIES = `(
    select id from webhook_service.deliveries
    where status = 'pending' and attended_until <= now()
    order by attended_until limit $1 for update skip locked
  ) as unattended`;

const RENEW_DELIVERIES = `
  update webhook_service.deliveries d set attended_until = now() + ${RENEWED}, parked = false
  from ${UNATTENDED_DELIVERIES}
  where d.id = unattended.id
  returning d.id`;

/** What no reminder can be made of now: workers let it in as they have room. */
const PARK_DELIVERIES = `
  update webhook_service.deliveries d set attended_until = now() + ${PARKED}, parked = true
  from ${UNATTENDED_DELIVERIES}
  where d.id = unattended.id`;

const SUSPECT_EVENTS = `
  update webhook_service.events set attended_until = now()
  where fanned_out_at is null and attended_until > now()`;

const SUSPECT_DELIVERIES = `
  update webhook_service.deliveries set attended_until = greatest(scheduled_at, now() + ${SOON})
  where status = 'pending' and attended_until > now() and not parked and ${SEND_QUEUE_INDEX} = any($2::int[])`;

/** Bounded, and in the partial indexes alone. A sweep every second leaves nothing unattended for five. */
const COUNT_UNATTENDED = `
  select
    (select count(*)::int from (
      select from webhook_service.events
      where fanned_out_at is null and attended_until < now() - interval '5 seconds' limit $1) as e) as events,
    (select count(*)::int from (
      select from webhook_service.deliveries
      where status = 'pending' and attended_until < now() - interval '5 seconds' limit $1) as d) as deliveries`;

type Remind = (ids: string[]) => Promise<void>;

/** Finds rows whose reminder may have been lost, and has them reminded of in the transaction that trusts them again. */
@Injectable()
export class SweepRepository {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  renewEvents(limit: number, remind: Remind): Promise<number> {
    return this.renew(RENEW_EVENTS, limit, remind);
  }

  renewDeliveries(limit: number, remind: Remind): Promise<number> {
    return this.renew(RENEW_DELIVERIES, limit, remind);
  }

  async parkDeliveries(limit: number): Promise<number> {
    const [, count] = await this.dataSource.query<[unknown, number]>(PARK_DELIVERIES, [limit]);
    return count;
  }

  /** The queue of events has forgotten everything: all are unattended now. Answers how many rows that are. */
  async suspectEvents(): Promise<number> {
    const [, count] = await this.dataSource.query<[unknown, number]>(SUSPECT_EVENTS);
    return count;
  }

  /**
   * Some of `count` send queues, the indexes of which these are, have forgotten everything: what is due is unattended now,
   * what is not yet due will be then. Answers how many rows that are.
   */
  async suspectDeliveries(count: number, indexes: readonly number[]): Promise<number> {
    const [, rows] = await this.dataSource.query<[unknown, number]>(SUSPECT_DELIVERIES, [count, indexes]);
    return rows;
  }

  /** How many rows have been due for a while with nobody attending to them, at most `limit` of each kind. */
  async countUnattended(limit: number): Promise<{ events: number; deliveries: number }> {
    const [counts] = await this.dataSource.query<{ events: number; deliveries: number }[]>(COUNT_UNATTENDED, [limit]);
    return { events: 0, deliveries: 0, ...counts };
  }

  /** Throws while PostgreSQL is away. */
  async assertReachable(): Promise<void> {
    await this.dataSource.query('select 1');
  }

  /** When the queue does not take the reminders the rows stay as they were, for the next sweep. */
  private renew(statement: string, limit: number, remind: Remind): Promise<number> {
    return this.dataSource.transaction(async (manager) => {
      const [rows] = await manager.query<[{ id: string }[], number]>(statement, [limit]);
      if (rows.length > 0) await remind(rows.map(({ id }) => id));
      return rows.length;
    });
  }
}
