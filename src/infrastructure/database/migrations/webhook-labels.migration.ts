import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets owners find their webhooks by metadata, and name them by an id of their own. */
export class WebhookLabels1764000400000 implements MigrationInterface {
  name = 'WebhookLabels1764000400000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      alter table webhook_service.webhooks
        add column metadata jsonb not null default '{}',
        add column external_id text;
      create unique index webhooks_external_id on webhook_service.webhooks (user_id, external_id)
        where external_id is not null`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.webhooks drop column metadata, drop column external_id');
  }
}
