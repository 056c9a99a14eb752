import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What it takes to bring home what a webhook has missed. */
export class Repair1763650000000 implements MigrationInterface {
  name = 'Repair1763650000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [WEBHOOK_PAUSES, RECOVERIES]) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of ['recoveries', 'webhook_pauses'])
      await queryRunner.query(`drop table webhook_service.${table}`);
  }
}

/** When a webhook was inactive: events that were fanned out meanwhile left no delivery to tell of them. */
const WEBHOOK_PAUSES = `
  create table webhook_service.webhook_pauses (
    webhook_id uuid not null references webhook_service.webhooks (id) on delete cascade,
    started_at timestamptz not null default clock_timestamp(),
    -- Null: it is inactive now.
    ended_at   timestamptz,
    primary key (webhook_id, started_at)
  );
  insert into webhook_service.webhook_pauses (webhook_id, started_at)
  select id, created_at from webhook_service.webhooks where not active;
`;

const RECOVERIES = `
  create table webhook_service.recoveries (
    id           uuid primary key,
    webhook_id   uuid not null references webhook_service.webhooks (id) on delete cascade,
    user_id      text not null,
    status       text not null check (status in ('running', 'done')),
    -- Events that had to be recovered when it began, and those of them that are queued by now.
    count        integer not null,
    queued       integer not null default 0,
    -- The window as bounds of event ids: from the first id to before the last; the cursor is the last one looked at.
    first_id     uuid not null,
    until_id     uuid not null,
    cursor       uuid not null,
    created_at   timestamptz(3) not null default now(),
    completed_at timestamptz(3)
  );
  create index recoveries_webhook on webhook_service.recoveries (webhook_id);
  create unique index recoveries_running on webhook_service.recoveries (webhook_id) where status = 'running';
`;
