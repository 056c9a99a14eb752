import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets webhooks receive events in other formats. A row keeps what was sent, unless it is the body of the event. */
export class WebhookFormats1764000650000 implements MigrationInterface {
  name = 'WebhookFormats1764000650000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      alter table webhook_service.webhooks add column format text not null default 'native'
        check (format in ('native', 'cloudevents', 'slack', 'discord', 'teams'))`);
    await queryRunner.query(
      'alter table webhook_service.deliveries add column format text, add column request_body text',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.deliveries drop column request_body, drop column format');
    await queryRunner.query('alter table webhook_service.webhooks drop column format');
  }
}
