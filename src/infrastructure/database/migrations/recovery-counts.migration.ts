import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A recovery begins before all of its events have been counted. */
export class RecoveryCounts1764001300000 implements MigrationInterface {
  name = 'RecoveryCounts1764001300000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.recoveries alter column count drop not null');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('update webhook_service.recoveries set count = queued where count is null');
    await queryRunner.query('alter table webhook_service.recoveries alter column count set not null');
  }
}
