/** Known jobs of other queues, and the read position of each queue. */
export const JOB_QUEUES = `
  create table webhook_service.queue_positions (
    queue       text primary key,
    -- All entries up to this position have been published, and of the later ones those in seen.
    position    text not null,
    seen        text[] not null default '{}',
    -- True once a job of this queue has named a user. From then on an unreadable job is not published to all users.
    names_users boolean not null default false,
    -- The only process that reads the queue, until held_until; it extends that time while it reads.
    holder      text not null default '',
    held_until  timestamptz(3) not null default '-infinity'
  );

  create table webhook_service.queue_jobs (
    queue      text not null,
    job_id     text not null,
    -- Null in this column and those below means unknown.
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

/** Social accounts, their followers, and the lists that a reading has received so far. */
export const FOLLOWERS = `
  create table webhook_service.accounts (
    id               uuid primary key,
    user_id          text not null,
    provider         text not null check (provider in ('mastodon', 'bluesky', 'push')),
    handle           text not null,
    interval_seconds integer not null,
    -- Null, like last_read_at, until the first list has been stored.
    followers_count  integer,
    last_read_at     timestamptz(3),
    last_error       text,
    -- A change in the last complete reading that was too large to apply at once: the next reading must confirm it.
    suspicion        text,
    -- The reading that works on the account, until next_reading_at.
    reading_id       uuid,
    -- Null: the account is not read, because its user pushes the lists.
    next_reading_at  timestamptz(3),
    created_at       timestamptz(3) not null
  );
  create index accounts_user on webhook_service.accounts (user_id, id);
  create index accounts_due on webhook_service.accounts (next_reading_at);

  create table webhook_service.account_followers (
    account_id   uuid not null references webhook_service.accounts (id) on delete cascade,
    follower_id  text collate "C" not null,
    username     text not null,
    display_name text,
    primary key (account_id, follower_id)
  );

  create table webhook_service.staged_followers (
    account_id   uuid not null references webhook_service.accounts (id) on delete cascade,
    reading_id   uuid not null,
    follower_id  text collate "C" not null,
    username     text not null,
    display_name text,
    primary key (account_id, reading_id, follower_id)
  );
`;
