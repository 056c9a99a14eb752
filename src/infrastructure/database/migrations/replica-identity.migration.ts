import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets rows without a key be deleted while the database is replicated logically: by `for all tables`, or for an upgrade. */
export class ReplicaIdentity1764001400000 implements MigrationInterface {
  name = 'ReplicaIdentity1764001400000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.recent_attempts replica identity full');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.recent_attempts replica identity default');
  }
}
