import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets owners limit the attempts per second. Nullable columns without a default: no row is rewritten. */
export class WebhookRates1764000690000 implements MigrationInterface {
  name = 'WebhookRates1764000690000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      alter table webhook_service.webhooks
        add column max_per_second double precision,
        add column rate_used_until timestamptz`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'alter table webhook_service.webhooks drop column max_per_second, drop column rate_used_until',
    );
  }
}
