import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `events` and `deliveries` are partitioned by the time in their UUIDv7; PartitionsService makes the partitions. */
export class InitialSchema1763800000000 implements MigrationInterface {
  name = 'InitialSchema1763800000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const part of [ACCESS, WEBHOOKS, EVENTS, DELIVERIES, JOB_QUEUES, FOLLOWERS]) await queryRunner.query(part);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of TABLES) await queryRunner.query(`drop table webhook_service.${table}`);
  }
}

/** In the order in which they can be dropped. */
const TABLES = [
  ...['staged_followers', 'account_followers', 'accounts', 'queue_jobs', 'queue_positions'],
  ...['deliveries', 'event_keys', 'events', 'recoveries', 'webhook_pauses', 'webhooks', 'access_tokens'],
];

const ACCESS = `
  create table webhook_service.access_tokens (
    id           uuid primary key,
    user_id      text not null,
    name         text not null,
    -- SHA-256 of the token. The token itself is not stored.
    token_hash   bytea not null unique,
    scopes       text[] not null,
    parent_id    uuid references webhook_service.access_tokens (id) on delete cascade,
    expires_at   timestamptz(3),
    last_used_at timestamptz(3),
    created_at   timestamptz(3) not null default now()
  );
  create index access_tokens_user on webhook_service.access_tokens (user_id, id);
  create index access_tokens_parent on webhook_service.access_tokens (parent_id);
`;

const WEBHOOKS = `
  create table webhook_service.webhooks (
    id                         uuid primary key,
    user_id                    text not null,
    url                        text not null,
    events                     text[] not null,
    description                text,
    -- AES-256-GCM, bound to this row's id; see webhooks/secrets/secret-box.ts.
    secret                     bytea not null,
    previous_secret            bytea,
    previous_secret_expires_at timestamptz(3),
    active                     boolean not null default true,
    disabled_reason            text,
    disabled_at                timestamptz,
    consecutive_failures       integer not null default 0,
    -- The last success or activation. DISABLE_AFTER_HOURS counts from here.
    healthy_at                 timestamptz(3) not null default now(),
    -- Full precision: the fan-out compares it with the time at which an event was accepted.
    created_at                 timestamptz not null default now(),
    updated_at                 timestamptz not null default now()
  );
  create index webhooks_user on webhook_service.webhooks (user_id, id);
  create index webhooks_events on webhook_service.webhooks using gin (events) where active;

  -- The times at which a webhook was inactive. Events that were fanned out in such a time have no delivery to it.
  create table webhook_service.webhook_pauses (
    webhook_id uuid not null references webhook_service.webhooks (id) on delete cascade,
    started_at timestamptz not null default clock_timestamp(),
    ended_at   timestamptz,
    primary key (webhook_id, started_at)
  );

  create table webhook_service.recoveries (
    id           uuid primary key,
    webhook_id   uuid not null references webhook_service.webhooks (id) on delete cascade,
    user_id      text not null,
    status       text not null check (status in ('running', 'done')),
    -- The number of events that had to be recovered when it began, and how many of them are queued by now.
    count        integer not null,
    queued       integer not null default 0,
    -- The window as bounds of event ids: from first_id up to but without until_id. The cursor is the last id looked at.
    first_id     uuid not null,
    until_id     uuid not null,
    cursor       uuid not null,
    -- Only events with this name, and those whose newest delivery has this error; null: all.
    event        text,
    error        text,
    created_at   timestamptz(3) not null default now(),
    completed_at timestamptz(3)
  );
  create index recoveries_webhook on webhook_service.recoveries (webhook_id, id);
  create unique index recoveries_running on webhook_service.recoveries (webhook_id) where status = 'running';
`;

const EVENTS = `
  create table webhook_service.events (
    id             uuid primary key,
    name           text not null,
    -- Null: for everybody; a publisher of null: published in process.
    user_id        text,
    publisher_id   text,
    -- W3C Trace Context of the request that published it; null when the request had none.
    traceparent    text,
    -- The exact bytes that every receiver gets.
    body           text not null,
    is_test        boolean not null default false,
    accepted_at    timestamptz not null default clock_timestamp(),
    fanned_out_at  timestamptz(3),
    -- The end of its lease, see deliveries/lease.ts. Claimed: a worker fans it out, and extends its lease.
    leased_until   timestamptz(3) not null default clock_timestamp() + interval '5 seconds',
    claimed        boolean not null default false
  ) partition by range (id);
  create index events_user on webhook_service.events (user_id, id);
  create index events_user_name on webhook_service.events (user_id, name, id);
  -- Only what was published for others: a publisher's own events are found by user_id; without a publisher, in process.
  create index events_publisher on webhook_service.events (nullif(publisher_id, user_id), id)
    where nullif(publisher_id, user_id) is not null;
  create index events_publisher_name on webhook_service.events (nullif(publisher_id, user_id), name, id)
    where nullif(publisher_id, user_id) is not null;
  create index events_lease on webhook_service.events (leased_until) where fanned_out_at is null;
  -- Tells PostgreSQL that most users publish only for themselves.
  create statistics webhook_service.events_publishers on (nullif(publisher_id, user_id)) from webhook_service.events;

  create table webhook_service.event_keys (
    -- Empty: published in process.
    publisher_id text not null,
    key          text not null,
    event_id     uuid not null,
    -- SHA-256 of event name, audience and data.
    fingerprint  bytea not null,
    created_at   timestamptz(3) not null default now(),
    primary key (publisher_id, key)
  );
  create index event_keys_created on webhook_service.event_keys (created_at);
`;

const DELIVERIES = `
  create table webhook_service.deliveries (
    id                      uuid primary key,
    webhook_id              uuid not null,
    user_id                 text not null,
    event_id                uuid not null,
    event                   text not null,
    attempt                 smallint not null,
    trigger                 text not null check (trigger in ('event', 'redelivery', 'test')),
    status                  text not null check (status in ('pending', 'succeeded', 'failed', 'canceled')),
    url                     text not null,
    response_status         integer,
    duration_ms             integer,
    error_code              text,
    error_message           text,
    scheduled_at            timestamptz(3) not null,
    attempted_at            timestamptz(3),
    completed_at            timestamptz(3),
    next_attempt_at         timestamptz(3),
    request_headers         json,
    response_headers        json,
    response_body           text,
    response_body_truncated boolean,
    -- Who has a pending row, and until when: see deliveries/lease.ts.
    parked                  boolean not null default false,
    claimed                 boolean not null default false,
    leased_until            timestamptz(3) not null
  ) partition by range (id);
  create index deliveries_webhook on webhook_service.deliveries (webhook_id, id);
  create index deliveries_user on webhook_service.deliveries (user_id, id);
  create index deliveries_event on webhook_service.deliveries (user_id, event_id, id);
  create index deliveries_pending on webhook_service.deliveries (webhook_id, event_id) where status = 'pending';
  create index deliveries_lease on webhook_service.deliveries (leased_until) where status = 'pending';
  -- Finds the webhooks that have parked rows, one after the other.
  create index deliveries_parked on webhook_service.deliveries (user_id, webhook_id, id)
    where status = 'pending' and parked;
  -- For the filters of the log. They are partial, so that an ordinary row writes to none of them.
  create index deliveries_webhook_failed on webhook_service.deliveries (webhook_id, status, id)
    where status in ('failed', 'canceled');
  create index deliveries_user_failed on webhook_service.deliveries (user_id, status, id)
    where status in ('failed', 'canceled');
  create index deliveries_webhook_trigger on webhook_service.deliveries (webhook_id, trigger, id) where trigger <> 'event';
  create index deliveries_user_trigger on webhook_service.deliveries (user_id, trigger, id) where trigger <> 'event';
  create index deliveries_user_event on webhook_service.deliveries (user_id, event, id);
  -- Tells PostgreSQL which values come together: a webhook that never fails is not searched for failures row by row.
  create statistics webhook_service.deliveries_filters (mcv) on user_id, webhook_id, event, trigger, status
    from webhook_service.deliveries;
`;

const JOB_QUEUES = `
  create table webhook_service.queue_positions (
    queue       text primary key,
    -- All entries up to this position have been published, and of the later ones those in seen.
    position    text not null,
    seen        text[] not null default '{}',
    -- True once a job of this queue has named a user. From then on a job that cannot be read is not for everybody.
    names_users boolean not null default false,
    -- The one process that reads the queue, until held_until; it extends that time as long as it reads.
    holder      text not null default '',
    held_until  timestamptz(3) not null default '-infinity'
  );

  create table webhook_service.queue_jobs (
    queue      text not null,
    job_id     text not null,
    -- Null in this column and those below means: unknown.
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

const FOLLOWERS = `
  create table webhook_service.accounts (
    id               uuid primary key,
    user_id          text not null,
    provider         text not null check (provider in ('mastodon', 'bluesky', 'push')),
    handle           text not null,
    interval_seconds integer not null,
    -- Null, like last_read_at, until the first list has been taken in.
    followers_count  integer,
    last_read_at     timestamptz(3),
    last_error       text,
    -- A change of the last complete reading that was too large to be made at once: the next reading has to confirm it.
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
