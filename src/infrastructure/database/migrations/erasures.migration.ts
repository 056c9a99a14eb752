import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets operators forget users. */
export class Erasures1764000800000 implements MigrationInterface {
  name = 'Erasures1764000800000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(ERASURES);
    await queryRunner.query(INDEXES);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const index of ['console_links_user', 'queue_jobs_user', 'event_types_owner'])
      await queryRunner.query(`drop index webhook_service.${index}`);
    await queryRunner.query('drop table webhook_service.erasures');
  }
}

const ERASURES = `
  create table webhook_service.erasures (
    id           uuid primary key,
    status       text not null default 'running' check (status in ('running', 'done')),
    -- HMAC of the user's id under the first key of SECRETS_KEY. Nothing else of the user is left in the end.
    user_hash    bytea not null,
    -- The user's id, encrypted like a secret and bound to this row; null when the erasure is done.
    sealed_user  bytea,
    -- Null: that user was erased too.
    requested_by text,
    -- Deleted rows by kind.
    counts       jsonb not null default '{}',
    -- Null until all pages were deleted once. What processes wrote in the meantime is deleted after this time.
    last_pass_at timestamptz(3),
    created_at   timestamptz(3) not null default now(),
    completed_at timestamptz(3)
  );
  create index erasures_running on webhook_service.erasures (id) where status = 'running';
  create index erasures_user on webhook_service.erasures (user_hash, id);
  create index erasures_requested_by on webhook_service.erasures (requested_by);
`;

/** Finds the rows of a user in tables that were only read by other columns so far. */
const INDEXES = `
  create index console_links_user on webhook_service.console_links (user_id);
  create index queue_jobs_user on webhook_service.queue_jobs (user_id) where user_id is not null;
  create index event_types_owner on webhook_service.event_types (declared_by) where declared_by is not null;
`;
