import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets owners choose events by their content. The hash tells the version of a filter without reading it. */
export class WebhookFilters1764000600000 implements MigrationInterface {
  name = 'WebhookFilters1764000600000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      alter table webhook_service.webhooks
        add column filter jsonb,
        add column filter_hash bigint generated always as (hashtextextended(filter::text, 0)) stored`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.webhooks drop column filter_hash, drop column filter');
  }
}
