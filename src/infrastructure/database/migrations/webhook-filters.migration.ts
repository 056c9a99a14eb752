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

/** Records since when a webhook subscribes to its events: its filter has dropped no earlier one. Null: since its creation. */
export class SubscriptionTimes1764001900000 implements MigrationInterface {
  name = 'SubscriptionTimes1764001900000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.webhooks add column subscribed_at timestamptz(3)');
    await queryRunner.query(`
      update webhook_service.webhooks set subscribed_at = updated_at where filter is not null and updated_at > created_at`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.webhooks drop column subscribed_at');
  }
}
