import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createOnBusyDays } from './busy-days.migration';

/**
 * Lets consumers lease deliveries instead of being called. No row is rewritten: the new columns are nullable or have a constant
 * default. The indexes contain only deliveries without a url, and there are none yet: partitions of past days, whose rows would be
 * read for nothing while no other transaction may write, do not get them.
 */
export class PullWebhooks1764000900000 implements MigrationInterface {
  name = 'PullWebhooks1764000900000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(WEBHOOKS);
    await queryRunner.query(
      'create index webhooks_idle on webhook_service.webhooks (id) where idle_seconds is not null',
    );
    await queryRunner.query(DELIVERIES);
    await createOnBusyDays(queryRunner, 'deliveries', INDEXES);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const index of Object.keys(INDEXES)) await queryRunner.query(`drop index webhook_service.${index}`);
    await queryRunner.query(`delete from webhook_service.webhooks where kind = 'pull'`);
    await queryRunner.query('delete from webhook_service.deliveries where url is null');
    await queryRunner.query(`
      alter table webhook_service.webhooks
        alter column url set not null, drop column kind, drop column idle_seconds,
        drop column last_leased_at, drop column last_leased_by`);
    await queryRunner.query(`
      alter table webhook_service.deliveries alter column url set not null, drop column lease_id`);
  }
}

const WEBHOOKS = `
  alter table webhook_service.webhooks
    alter column url drop not null,
    add column kind text not null default 'push' check (kind in ('push', 'pull')),
    -- Deleted when nobody has leased from it for so long; null: never.
    add column idle_seconds integer,
    add column last_leased_at timestamptz,
    -- Name of the token that leased last; null for a JWT and BOOTSTRAP_TOKEN.
    add column last_leased_by text,
    add check ((url is null) = (kind = 'pull'))`;

const DELIVERIES = `
  alter table webhook_service.deliveries
    -- Null: a consumer leases it.
    alter column url drop not null,
    -- 128 random bits that only the consumer knows.
    add column lease_id uuid`;

const INDEXES = {
  // First deliveries of the same millisecond are leased in the order of their events.
  deliveries_waiting: `(webhook_id, scheduled_at, event_id) where status = 'pending' and url is null and not claimed`,
  deliveries_leased: `(leased_until) where status = 'pending' and url is null and claimed`,
};
