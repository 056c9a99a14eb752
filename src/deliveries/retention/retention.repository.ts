import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { ClockService } from '../../infrastructure/database/clock.service';
import { lowestIdOf } from '../../infrastructure/database/id-time';

const MAX_ROWS = 10_000;

const IS_SILENT = `
  select not exists (select from webhook_service.events where id >= $1 and id < $2)
     and not exists (select from webhook_service.deliveries where id >= $1 and id < $2) as silent`;

const FORGET_KEYS = `
  with old as (
    select publisher_id, key from webhook_service.event_keys
    where created_at < $1 order by created_at limit ${MAX_ROWS}
  )
  delete from webhook_service.event_keys k using old where k.publisher_id = old.publisher_id and k.key = old.key`;

const FORGET_PAUSES = `delete from webhook_service.webhook_pauses where ended_at < $1`;

const FORGET_COUNTS = `
  with old as (
    select ctid from webhook_service.attempt_counts
    where at < $1::timestamptz - interval '1 hour' limit ${MAX_ROWS}
  )
  delete from webhook_service.attempt_counts where ctid = any(array(select ctid from old))`;

/** A job that is deleted from its queue without an event would otherwise stay forever. */
const FORGET_JOBS = `
  delete from webhook_service.queue_jobs where noted_at < least($1::timestamptz, now() - interval '30 days')`;

const HOUR_MS = 3_600_000;

/** Deletes keys, pauses, counts and jobs of other queues that are past retention. */
@Injectable()
export class RetentionRepository {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly clock: ClockService,
  ) {}

  /** Returns true when the log has no row from the day that ended an hour ago. */
  async isSilent(): Promise<boolean> {
    const hourAgoMs = this.clock.now().getTime() - HOUR_MS;
    const span = [lowestIdOf(hourAgoMs - 24 * HOUR_MS), lowestIdOf(hourAgoMs)];
    const [row] = await this.dataSource.query<{ silent: boolean }[]>(IS_SILENT, span);
    return row?.silent ?? true;
  }

  /** Deletes keys created before a time, in pages, so that no publisher waits. Returns the number of deleted keys. */
  forgetKeys(until: Date): Promise<number> {
    return this.inPages(FORGET_KEYS, until);
  }

  /** Deletes counts from more than an hour before a time, in pages. */
  async forgetCounts(until: Date): Promise<void> {
    await this.inPages(FORGET_COUNTS, until);
  }

  /** Deletes the pauses of webhooks that ended before a time: no recovery uses them. */
  async forgetPauses(until: Date): Promise<void> {
    await this.dataSource.query(FORGET_PAUSES, [until]);
  }

  /** Deletes jobs of other queues that were last seen before a time and more than 30 days ago. */
  async forgetJobs(until: Date): Promise<void> {
    await this.dataSource.query(FORGET_JOBS, [until]);
  }

  private async inPages(statement: string, until: Date): Promise<number> {
    let total = 0;
    for (let found = MAX_ROWS; found === MAX_ROWS; total += found) {
      [, found] = await this.dataSource.query<[unknown, number]>(statement, [until]);
    }
    return total;
  }
}
