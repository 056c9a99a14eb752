import type { MigrationInterface, QueryRunner } from 'typeorm';
import { AUTOVACUUM } from '../partitions';

/** Partitions of today and the following days; past days are rarely written. */
export const BUSY_PARTITIONS = `
  select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent in ('webhook_service.events'::regclass, 'webhook_service.deliveries'::regclass)
    and right(c.relname, 8) >= to_char(now() at time zone 'utc', 'YYYYMMDD')`;

/** Keeps the cost of statements constant from the first minute of a day to its last. Rewrites no row. */
export class BusyDays1764000200000 implements MigrationInterface {
  name = 'BusyDays1764000200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // The last attempt included in the row; null: version 0.2 counted it.
    await queryRunner.query('alter table webhook_service.attempt_counts add column last_at timestamptz');
    for (const { name } of (await queryRunner.query(BUSY_PARTITIONS)) as { name: string }[])
      await queryRunner.query(`alter table webhook_service.${name} set (${AUTOVACUUM})`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.attempt_counts drop column last_at');
  }
}
