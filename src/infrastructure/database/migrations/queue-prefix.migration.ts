import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores the prefix of the installation's queues on Redis, for applications that enqueue events with the library. */
export class QueuePrefix1764001100000 implements MigrationInterface {
  name = 'QueuePrefix1764001100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // Null until a process starts with a Redis.
    await queryRunner.query('alter table webhook_service.installation add column queue_prefix text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.installation drop column queue_prefix');
  }
}
