import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { PARKED_LEASE } from '../lease';

/**
 * Each row is due now, and deferred: the queue may hold a job of the same id for a time that lies ahead, and would ignore a new
 * one. A deferred row needs no job.
 */
const DEFER_DELIVERIES = `
  update webhook_service.deliveries d
  set scheduled_at = least(scheduled_at, now()), parked = true, claimed = false, leased_until = now() + ${PARKED_LEASE}
  from (
    select id from webhook_service.deliveries
    where status = 'pending' and leased_until > now() + $1 * interval '1 millisecond'
    order by leased_until desc limit $2 for update skip locked
  ) as ahead
  where d.id = ahead.id
  returning d.id`;

/** For the sweeper, which makes jobs for them. */
const RELEASE_EVENTS = `
  update webhook_service.events e set claimed = false, leased_until = now()
  from (
    select id from webhook_service.events
    where fanned_out_at is null and leased_until > now() + $1 * interval '1 millisecond'
    order by leased_until desc limit $2 for update skip locked
  ) as ahead
  where e.id = ahead.id
  returning e.id`;

/** An event reaches only webhooks that are older than itself. */
const DATE_WEBHOOKS = `
  update webhook_service.webhooks set created_at = now() where id >= $1 and created_at > now()`;

/** Rows that were written while PostgreSQL's clock was ahead, and that nobody would look at before that time has come. */
@Injectable()
export class AheadRowsRepository {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** Makes at most `limit` pending deliveries due whose lease ends in more than `leaseMs`. Returns their ids. */
  deferDeliveries(leaseMs: number, limit: number): Promise<string[]> {
    return this.idsOf(DEFER_DELIVERIES, leaseMs, limit);
  }

  /** Gives the sweeper at most `limit` events whose lease ends in more than `leaseMs`. Returns their ids. */
  releaseEvents(leaseMs: number, limit: number): Promise<string[]> {
    return this.idsOf(RELEASE_EVENTS, leaseMs, limit);
  }

  /** Lets webhooks with this id or a higher one be created now at the latest. */
  async dateWebhooks(firstId: string): Promise<void> {
    await this.dataSource.query(DATE_WEBHOOKS, [firstId]);
  }

  private async idsOf(statement: string, leaseMs: number, limit: number): Promise<string[]> {
    const [rows] = await this.dataSource.query<[{ id: string }[], number]>(statement, [leaseMs, limit]);
    return rows.map(({ id }) => id);
  }
}
