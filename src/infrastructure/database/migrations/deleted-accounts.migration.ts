import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets an account be disconnected at once, however many followers it has: these are deleted in the background. */
export class DeletedAccounts1764001600000 implements MigrationInterface {
  name = 'DeletedAccounts1764001600000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.accounts add column deleted_at timestamptz(3)');
    await queryRunner.query(`
      create index accounts_deleted on webhook_service.accounts (deleted_at) where deleted_at is not null`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('delete from webhook_service.accounts where deleted_at is not null');
    await queryRunner.query('alter table webhook_service.accounts drop column deleted_at');
  }
}
