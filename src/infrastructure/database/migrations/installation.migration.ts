import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One row that says which installation this database belongs to. */
export class Installation1764001000000 implements MigrationInterface {
  name = 'Installation1764001000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(INSTALLATION);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop table webhook_service.installation');
  }
}

const INSTALLATION = `
  create table webhook_service.installation (
    is_only       boolean primary key default true check (is_only),
    -- In names that installations share, such as those of queues on one Redis.
    id            uuid not null default gen_random_uuid(),
    -- Sealed by the first key of SECRETS_KEY when a process first starts with one: keys that do not open it are wrong.
    secrets_check text
  );
  insert into webhook_service.installation default values;
`;
