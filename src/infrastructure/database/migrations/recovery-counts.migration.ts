import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A recovery begins before all of its events have been counted. */
export class RecoveryCounts1764001300000 implements MigrationInterface {
  name = 'RecoveryCounts1764001300000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.recoveries alter column count drop not null');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('update webhook_service.recoveries set count = queued where count is null');
    await queryRunner.query('alter table webhook_service.recoveries alter column count set not null');
  }
}

/** Counts the attempts of each user, too, so that reading them does not depend on the webhooks that the user has or had. */
export class UserCounts1764002200000 implements MigrationInterface {
  name = 'UserCounts1764002200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(USER_COUNTS);
    // Recoveries past retention are deleted.
    await queryRunner.query('create index recoveries_completed on webhook_service.recoveries (completed_at)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop index webhook_service.recoveries_completed');
    await queryRunner.query('drop table webhook_service.user_attempt_counts');
  }
}

const USER_COUNTS = `
  -- Sums of attempt_counts, with the same columns.
  create table webhook_service.user_attempt_counts (
    user_id        text not null,
    minutes        smallint not null,
    status         text not null,
    at             timestamptz(0) not null,
    error_code     text not null,
    duration_class smallint not null,
    count          integer not null,
    primary key (user_id, minutes, status, at, error_code, duration_class)
  ) with (fillfactor = 80);
  create index user_attempt_counts_at on webhook_service.user_attempt_counts using brin (at);
  insert into webhook_service.user_attempt_counts
  select user_id, minutes, status, at, error_code, duration_class, sum(count)
  from webhook_service.attempt_counts group by 1, 2, 3, 4, 5, 6;
`;
