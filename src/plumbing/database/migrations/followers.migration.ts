import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Connected social accounts, their followers as last read, and the lists that are being read. */
export class Followers1763660000000 implements MigrationInterface {
  name = 'Followers1763660000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [ACCOUNTS, ACCOUNT_FOLLOWERS, STAGED_FOLLOWERS]) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of ['staged_followers', 'account_followers', 'accounts']) {
      await queryRunner.query(`drop table webhook_service.${table}`);
    }
  }
}

const ACCOUNTS = `
  create table webhook_service.accounts (
    id               uuid primary key,
    user_id          text not null,
    provider         text not null check (provider in ('mastodon', 'bluesky', 'push')),
    handle           text not null,
    interval_seconds integer not null,
    -- Null, as last_read_at: no list has been taken in yet.
    followers_count  integer,
    last_read_at     timestamptz(3),
    last_error       text,
    -- What the last complete reading would have changed all too much: the next one has to confirm it.
    suspicion        text,
    -- The reading that holds the account, until next_reading_at.
    reading_id       uuid,
    -- Null: the account is not read, it is pushed to.
    next_reading_at  timestamptz(3),
    created_at       timestamptz(3) not null
  );
  create index accounts_user on webhook_service.accounts (user_id, id);
  create index accounts_due on webhook_service.accounts (next_reading_at);
`;

const ACCOUNT_FOLLOWERS = `
  create table webhook_service.account_followers (
    account_id   uuid not null references webhook_service.accounts (id) on delete cascade,
    follower_id  text collate "C" not null,
    username     text not null,
    display_name text,
    primary key (account_id, follower_id)
  );
`;

const STAGED_FOLLOWERS = `
  create table webhook_service.staged_followers (
    account_id   uuid not null references webhook_service.accounts (id) on delete cascade,
    reading_id   uuid not null,
    follower_id  text collate "C" not null,
    username     text not null,
    display_name text,
    primary key (account_id, reading_id, follower_id)
  );
`;
