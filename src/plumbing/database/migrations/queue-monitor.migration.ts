import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How far the event streams of the monitored queues have been read, and what is remembered of jobs on the way. */
export class QueueMonitor1763700000000 implements MigrationInterface {
  name = 'QueueMonitor1763700000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(QUEUE_POSITIONS);
    await queryRunner.query(QUEUE_JOBS);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop table webhook_service.queue_jobs');
    await queryRunner.query('drop table webhook_service.queue_positions');
  }
}

const QUEUE_POSITIONS = `
  create table webhook_service.queue_positions (
    queue       text primary key,
    -- Everything up to here has been published; beyond it, what stands in seen.
    position    text not null,
    seen        text[] not null default '{}',
    -- Some job of this queue has named a user: then a job that nobody has read is not for everybody.
    names_users boolean not null default false,
    -- The one process that reads the queue, as long as it keeps renewing.
    holder      text not null default '',
    held_until  timestamptz(3) not null default '-infinity'
  );
`;

const QUEUE_JOBS = `
  create table webhook_service.queue_jobs (
    queue      text not null,
    job_id     text not null,
    -- Null, here and below: unknown.
    name       text,
    user_is    text not null check (user_is in ('named', 'none', 'unusable', 'unknown')),
    user_id    text,
    attempts   integer,
    started_at timestamptz(3),
    noted_at   timestamptz(3) not null default now(),
    primary key (queue, job_id)
  );
  create index queue_jobs_noted on webhook_service.queue_jobs (noted_at);
`;
