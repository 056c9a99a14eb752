import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { deferredLease } from '../lease';

/**
 * Makes each row due now, and defers it: the queue may hold a job of the same id for a time in the future, and would ignore a new
 * one. A deferred row requires no job.
 */
const DEFER_DELIVERIES = `
  with ahead as materialized (
    select id from webhook_service.deliveries
    where status = 'pending' and url is not null
      and leased_until > now() + $1 * interval '1 millisecond' and leased_until < 'infinity'
    order by leased_until desc limit $2 for update skip locked
  )
  update webhook_service.deliveries d
  set scheduled_at = least(scheduled_at, now()), parked = true, claimed = false, leased_until = ${deferredLease('d')}
  where d.id = any(array(select id from ahead))
  returning d.id`;

/** Releases events to the sweeper, which enqueues jobs for them. */
const RELEASE_EVENTS = `
  with ahead as materialized (
    select id from webhook_service.events
    where fanned_out_at is null and leased_until > now() + $1 * interval '1 millisecond'
    order by leased_until desc limit $2 for update skip locked
  )
  update webhook_service.events e
  set claimed = false, leased_until = now()
  where e.id = any(array(select id from ahead))
  returning e.id`;

/** Moves creation times in the future to now: an event reaches only webhooks that are older than itself. */
const DATE_WEBHOOKS = `
  update webhook_service.webhooks set created_at = now() where id >= $1 and created_at > now()`;

/** Repairs rows that were written while PostgreSQL's clock was ahead, and that would otherwise wait until that time. */
@Injectable()
export class AheadRowsRepository {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** Makes due the pending deliveries whose leases end more than `leaseMs` from now, at most `limit`. Returns their ids. */
  deferDeliveries(leaseMs: number, limit: number): Promise<string[]> {
    return this.idsOf(DEFER_DELIVERIES, leaseMs, limit);
  }

  /** Releases to the sweeper the events whose leases end more than `leaseMs` from now, at most `limit`. Returns their ids. */
  releaseEvents(leaseMs: number, limit: number): Promise<string[]> {
    return this.idsOf(RELEASE_EVENTS, leaseMs, limit);
  }

  /** Moves creation times in the future to now, for webhooks with this id or a higher one. */
  async dateWebhooks(firstId: string): Promise<void> {
    await this.dataSource.query(DATE_WEBHOOKS, [firstId]);
  }

  private async idsOf(statement: string, leaseMs: number, limit: number): Promise<string[]> {
    const [rows] = await this.dataSource.query<[{ id: string }[], number]>(statement, [leaseMs, limit]);
    return rows.map(({ id }) => id);
  }
}
