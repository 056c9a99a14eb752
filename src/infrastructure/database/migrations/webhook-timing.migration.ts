import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets owners set the deadline and the retry delays of a webhook. Nullable columns without a default: no row is rewritten. */
export class WebhookTiming1764000500000 implements MigrationInterface {
  name = 'WebhookTiming1764000500000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      alter table webhook_service.webhooks
        add column timeout_ms integer,
        add column retry_delays_ms integer[]`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.webhooks drop column timeout_ms, drop column retry_delays_ms');
  }
}
