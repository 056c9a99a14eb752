import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Assigns an application to the user whose token first declares one of its types over HTTP. */
export class EventTypeOwners1764000100000 implements MigrationInterface {
  name = 'EventTypeOwners1764000100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(OWNER);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.event_types drop column declared_by');
  }
}

const OWNER = `
  -- The owner of the application. Null: there is no application, its type was declared through the database or by
  -- version 0.2, or the user was erased.
  alter table webhook_service.event_types add column declared_by text;
`;
