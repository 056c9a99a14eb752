import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { DayPartition, PartitionedTable } from '../../plumbing/database/partitions';

const MAX_KEYS = 10_000;

/** Its first deliveries, whose ids are of the event's day, are still to be made. */
const IS_TO_BE_FANNED_OUT = `exists (
  select from webhook_service.events where fanned_out_at is null and not is_test and id >= $1 and id < $2)`;

/** A delivery may be of a later day than its event, whose body it still needs. */
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
    where created_at < now() - $1 * interval '1 day' order by created_at limit ${MAX_KEYS}
  )
  delete from webhook_service.event_keys k using old where k.publisher_id = old.publisher_id and k.key = old.key`;

/** What may go by age, and what is still needed. */
@Injectable()
export class RetentionRepository {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async isNeeded(table: PartitionedTable, { from, to }: DayPartition): Promise<boolean> {
    const [row] = await this.dataSource.query<{ needed: boolean }[]>(NEEDED[table], [from, to]);
    return row?.needed ?? true;
  }

  /** A page at a time, so that no publisher waits for it. Answers how many. */
  async forgetKeys(retentionDays: number): Promise<number> {
    let total = 0;
    for (let found = MAX_KEYS; found === MAX_KEYS; total += found) {
      [, found] = await this.dataSource.query<[unknown, number]>(FORGET_KEYS, [retentionDays]);
    }
    return total;
  }
}
