import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Idempotency keys age out: the oldest are found without reading the others. */
export class EventKeysByAge1763640000000 implements MigrationInterface {
  name = 'EventKeysByAge1763640000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('create index event_keys_created on webhook_service.event_keys (created_at)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop index webhook_service.event_keys_created');
  }
}
