import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores what the owner of a webhook was told about its failures. No row is rewritten: the columns are nullable or have a constant
 * default. The index has only webhooks whose owner is yet to be told.
 */
export class WebhookNotices1764000700000 implements MigrationInterface {
  name = 'WebhookNotices1764000700000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      alter table webhook_service.webhooks
        add column failing_since timestamptz(3),
        add column missed_count integer,
        add column told_failing boolean not null default false,
        add column told_at timestamptz`);
    await queryRunner.query(`
      create index webhooks_untold on webhook_service.webhooks (id)
        where failing_since is not null and told_failing = (missed_count is not null)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      alter table webhook_service.webhooks
        drop column failing_since, drop column missed_count, drop column told_failing, drop column told_at`);
  }
}
