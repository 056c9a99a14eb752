import type { MigrationInterface, QueryRunner } from 'typeorm';
import { AUTOVACUUM } from '../partitions';

/** The partitions of today and of the days to come: those of past days are hardly written any more. */
const PARTITIONS = `
  select format('%I.%I', n.nspname, c.relname) as name
  from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_namespace n on n.oid = c.relnamespace
  where i.inhparent in ('webhook_service.events'::regclass, 'webhook_service.deliveries'::regclass)
    and right(c.relname, 8) >= to_char(now() at time zone 'utc', 'YYYYMMDD')`;

/** What keeps the cost of a statement the same from the first minute of a day to its last. Rewrites no row. */
export class BusyDays1764000200000 implements MigrationInterface {
  name = 'BusyDays1764000200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // The last attempt that the row has counted; null: version 0.2 has counted.
    await queryRunner.query('alter table webhook_service.attempt_counts add column last_at timestamptz');
    for (const { name } of (await queryRunner.query(PARTITIONS)) as { name: string }[])
      await queryRunner.query(`alter table ${name} set (${AUTOVACUUM})`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.attempt_counts drop column last_at');
  }
}
