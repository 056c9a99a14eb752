import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Records when a webhook's secret was last replaced. */
export class SecretRotations1764000300000 implements MigrationInterface {
  name = 'SecretRotations1764000300000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.webhooks add column secret_rotated_at timestamptz(3)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.webhooks drop column secret_rotated_at');
  }
}
