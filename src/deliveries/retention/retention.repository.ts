import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { DayPartition, PartitionedTable } from '../../plumbing/database/partitions';

const MAX_ROWS = 10_000;

/** An event of this day is not fanned out yet. Its first deliveries will have ids of the same day. */
const IS_TO_BE_FANNED_OUT = `exists (
  select from webhook_service.events where fanned_out_at is null and not is_test and id >= $1 and id < $2)`;

/** A delivery may belong to a later day than its event, and still needs the event's body. */
const NEEDED: Record<PartitionedTable, string> = {
  deliveries: `
    select ${IS_TO_BE_FANNED_OUT} or exists (
      select from webhook_service.deliveries where status = 'pending' and id >= $1 and id < $2) as needed`,
  events: `
    select ${IS_TO_BE_FANNED_OUT} or exists (
      select from webhook_service.deliveries where status = 'pending' and event_id >= $1 and event_id < $2) as needed`,
};

const FORGET_KEYS = `
  with old as (
    select publisher_id, key from webhook_service.event_keys
    where created_at < now() - $1 * interval '1 day' order by created_at limit ${MAX_ROWS}
  )
  delete from webhook_service.event_keys k using old where k.publisher_id = old.publisher_id and k.key = old.key`;

const FORGET_PAUSES = `delete from webhook_service.webhook_pauses where ended_at < now() - $1 * interval '1 day'`;

const FORGET_COUNTS = `
  with old as (
    select ctid from webhook_service.attempt_counts
    where at < now() - $1 * interval '1 day' - interval '1 hour' limit ${MAX_ROWS}
  )
  delete from webhook_service.attempt_counts where ctid = any(array(select ctid from old))`;

/** Says what is still needed, and deletes the idempotency keys, pauses and counts that are past retention. */
@Injectable()
export class RetentionRepository {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** True when something in this day's table is still to be delivered. */
  async isNeeded(table: PartitionedTable, { from, to }: DayPartition): Promise<boolean> {
    const [row] = await this.dataSource.query<{ needed: boolean }[]>(NEEDED[table], [from, to]);
    return row?.needed ?? true;
  }

  /** Deletes the keys that are past retention, in pages, so that no publisher waits. Returns how many it deleted. */
  forgetKeys(retentionDays: number): Promise<number> {
    return this.inPages(FORGET_KEYS, retentionDays);
  }

  /** Deletes counts whose time is past retention, in pages. */
  async forgetCounts(retentionDays: number): Promise<void> {
    await this.inPages(FORGET_COUNTS, retentionDays);
  }

  /** Deletes the pauses of webhooks that ended before everything that is kept: no recovery asks for them. */
  async forgetPauses(retentionDays: number): Promise<void> {
    await this.dataSource.query(FORGET_PAUSES, [retentionDays]);
  }

  private async inPages(statement: string, retentionDays: number): Promise<number> {
    let total = 0;
    for (let found = MAX_ROWS; found === MAX_ROWS; total += found) {
      [, found] = await this.dataSource.query<[unknown, number]>(statement, [retentionDays]);
    }
    return total;
  }
}
