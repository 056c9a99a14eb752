import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The trace that an event belongs to, for the deliveries of it. */
export class EventTraces1763710000000 implements MigrationInterface {
  name = 'EventTraces1763710000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.events add column traceparent text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.events drop column traceparent');
  }
}
