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

/** Lets webhooks receive the body that their receiver expects, a part of the data, and events named as elsewhere. */
export class ReceiverBodies1764001700000 implements MigrationInterface {
  name = 'ReceiverBodies1764001700000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      alter table webhook_service.webhooks
        add column fields text[],
        drop constraint webhooks_format_check,
        add constraint webhooks_format_check
          check (format in ('native', 'payload', 'standard', 'cloudevents', 'slack', 'discord', 'teams'))`);
    await queryRunner.query('alter table webhook_service.installation add column header_prefix text');
    // What earlier versions have sent; a new installation has sent nothing yet.
    await queryRunner.query(`
      update webhook_service.installation set header_prefix = 'x-service'
      where exists (select from webhook_service.webhooks)`);
    await queryRunner.query('create unique index event_types_case on webhook_service.event_types (lower(name))');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.installation drop column header_prefix');
    await queryRunner.query('drop index webhook_service.event_types_case');
    await queryRunner.query(`
      update webhook_service.webhooks set format = 'native' where format in ('payload', 'standard') or kind = 'pull'`);
    await queryRunner.query(`
      alter table webhook_service.webhooks
        drop column fields,
        drop constraint webhooks_format_check,
        add constraint webhooks_format_check check (format in ('native', 'cloudevents', 'slack', 'discord', 'teams'))`);
  }
}
