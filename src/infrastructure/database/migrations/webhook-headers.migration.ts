import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets webhooks carry headers of their owners. Each value is sealed, in base64. */
export class WebhookHeaders1764000660000 implements MigrationInterface {
  name = 'WebhookHeaders1764000660000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`alter table webhook_service.webhooks add column headers jsonb not null default '{}'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.webhooks drop column headers');
  }
}
