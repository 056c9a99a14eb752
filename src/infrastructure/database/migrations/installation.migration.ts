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

/** Lets readiness tell that the disk of the database is full. */
export class WriteCheck1764002100000 implements MigrationInterface {
  name = 'WriteCheck1764002100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(WRITE_CHECK);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop table webhook_service.write_check');
  }
}

const WRITE_CHECK = `
  -- Always empty: transactions that fill it are rolled back. See infrastructure/database/database-health.service.ts.
  create unlogged table webhook_service.write_check (
    page   integer primary key,
    filler text not null
  );
  alter table webhook_service.write_check alter column filler set storage plain;
`;

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
