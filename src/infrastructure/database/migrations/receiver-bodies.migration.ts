import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets webhooks receive the body that their receiver expects. */
export class ReceiverBodies1764001700000 implements MigrationInterface {
  name = 'ReceiverBodies1764001700000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      alter table webhook_service.webhooks
        drop constraint webhooks_format_check,
        add constraint webhooks_format_check
          check (format in ('native', 'payload', 'standard', 'cloudevents', 'slack', 'discord', 'teams'))`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      update webhook_service.webhooks set format = 'native' where format in ('payload', 'standard') or kind = 'pull'`);
    await queryRunner.query(`
      alter table webhook_service.webhooks
        drop constraint webhooks_format_check,
        add constraint webhooks_format_check check (format in ('native', 'cloudevents', 'slack', 'discord', 'teams'))`);
  }
}
