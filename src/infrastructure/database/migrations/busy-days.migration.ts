import type { MigrationInterface, QueryRunner } from 'typeorm';
import { lowestIdOf } from '../id-time';
import { AUTOVACUUM, type PartitionedTable } from '../partitions';

/** Partitions of today and the following days; past days are rarely written. */
export const BUSY_PARTITIONS = `
  select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent in ('webhook_service.events'::regclass, 'webhook_service.deliveries'::regclass)
    and right(c.relname, 8) >= to_char(now() at time zone 'utc', 'YYYYMMDD')`;

/**
 * Creates indexes of a table, by name, for today and all days to come. Past days, whose rows would be read while no other
 * transaction may write, do not get them.
 */
export async function createOnBusyDays(
  queryRunner: QueryRunner,
  table: PartitionedTable,
  indexes: Record<string, string>,
): Promise<void> {
  const partitions = (await queryRunner.query(BUSY_PARTITIONS)) as { name: string }[];
  const days = partitions.map(({ name }) => name).filter((name) => name.startsWith(`${table}_`));
  for (const [index, definition] of Object.entries(indexes)) {
    await queryRunner.query(`create index ${index} on only webhook_service.${table} ${definition}`);
    for (const day of days) {
      const own = index.replace(table, day);
      await queryRunner.query(`create index ${own} on webhook_service.${day} ${definition}`);
      await queryRunner.query(`alter index webhook_service.${index} attach partition webhook_service.${own}`);
    }
  }
}

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

/** Stores what an event is about, and finds it. Days before today have no subjects, and their rows are not read. */
export class EventSubjects1764001800000 implements MigrationInterface {
  name = 'EventSubjects1764001800000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const table of ['events', 'deliveries'])
      await queryRunner.query(`alter table webhook_service.${table} add column subject text`);
    await createOnBusyDays(queryRunner, 'events', SUBJECTS_OF_EVENTS);
    await createOnBusyDays(queryRunner, 'deliveries', SUBJECTS_OF_DELIVERIES);
    // The lowest id of the first day that has these indexes.
    await queryRunner.query('alter table webhook_service.installation add column subjects_from uuid');
    const [today] = (await queryRunner.query(TODAY)) as { ms: number }[];
    await queryRunner.query('update webhook_service.installation set subjects_from = $1', [lowestIdOf(today!.ms)]);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.installation drop column subjects_from');
    for (const table of ['events', 'deliveries'])
      await queryRunner.query(`alter table webhook_service.${table} drop column subject`);
  }
}

const TODAY = `select extract(epoch from date_trunc('day', now() at time zone 'utc'))::float8 * 1000 as ms`;

const SUBJECTS_OF_EVENTS = {
  events_subject: '(user_id, subject, id) where subject is not null',
  // Only events published for other users: see events_publisher.
  events_publisher_subject: `(nullif(publisher_id, user_id), subject, id)
    where subject is not null and nullif(publisher_id, user_id) is not null`,
};
const SUBJECTS_OF_DELIVERIES = { deliveries_subject: '(user_id, subject, id) where subject is not null' };
