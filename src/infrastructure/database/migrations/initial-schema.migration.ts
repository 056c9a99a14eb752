import type { MigrationInterface, QueryRunner } from 'typeorm';
import { COUNTS, DELIVERIES } from './delivery-tables';
import { FOLLOWERS, JOB_QUEUES } from './source-tables';

/** `events` and `deliveries` are partitioned by the time in their UUIDv7; PartitionsService creates the partitions. */
export class InitialSchema1763800000000 implements MigrationInterface {
  name = 'InitialSchema1763800000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const part of [VERSION, ACCESS, EVENT_TYPES, WEBHOOKS, EVENTS, DELIVERIES, COUNTS, JOB_QUEUES, FOLLOWERS])
      await queryRunner.query(part);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of TABLES) await queryRunner.query(`drop table webhook_service.${table}`);
  }
}

/** In the order in which they can be dropped. */
const TABLES = [
  ...['staged_followers', 'account_followers', 'accounts', 'queue_jobs', 'queue_positions'],
  ...[
    'attempt_counts',
    'recent_attempts',
    'deliveries',
    'event_keys',
    'events',
    'recoveries',
    'webhook_pauses',
    'webhooks',
    'console_links',
    'event_types',
    'schema_version',
    'access_tokens',
  ],
];

/** The library reads it: applications on this database must know these tables. */
const VERSION = `
  create table webhook_service.schema_version (version integer primary key);
  insert into webhook_service.schema_version values (2);
`;

const ACCESS = `
  create table webhook_service.access_tokens (
    id           uuid primary key,
    user_id      text not null,
    name         text not null,
    -- SHA-256 of the token, which itself is not stored.
    token_hash   bytea not null unique,
    scopes       text[] not null,
    parent_id    uuid references webhook_service.access_tokens (id) on delete cascade,
    expires_at   timestamptz(3),
    last_used_at timestamptz(3),
    created_at   timestamptz(3) not null default now(),
    -- Created for the code of a console link; the hash is of the BOOTSTRAP_TOKEN that created the link.
    is_session     boolean not null default false,
    bootstrap_hash bytea
  );
  create index access_tokens_user on webhook_service.access_tokens (user_id, id);
  create index access_tokens_parent on webhook_service.access_tokens (parent_id);

  -- A code works once: creating the session deletes the row.
  create table webhook_service.console_links (
    -- SHA-256 of the code, which itself is not stored.
    code_hash       bytea primary key,
    code_expires_at timestamptz(3) not null,
    -- Properties of the future session.
    user_id         text not null,
    scopes          text[] not null,
    expires_at      timestamptz(3) not null,
    parent_id       uuid references webhook_service.access_tokens (id) on delete cascade,
    bootstrap_hash  bytea
  );
  create index console_links_expiry on webhook_service.console_links (code_expires_at);
  create index console_links_parent on webhook_service.console_links (parent_id);
`;

const EVENT_TYPES = `
  create table webhook_service.event_types (
    name        text primary key,
    description text not null,
    schema      json not null,
    example     json not null,
    -- The application that declared it; null: declared over the API without one.
    application text,
    -- Increases with every change, so that processes notice it.
    version     bigint generated always as identity
  );
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
    -- The last success or activation; DISABLE_AFTER_HOURS counts from here.
    healthy_at                 timestamptz(3) not null default now(),
    -- Full precision: the fan-out compares it with the time at which an event was accepted.
    created_at                 timestamptz not null default now(),
    updated_at                 timestamptz not null default now()
  );
  create index webhooks_user on webhook_service.webhooks (user_id, id);
  create index webhooks_events on webhook_service.webhooks using gin (events) where active;

  -- Periods in which a webhook was inactive. Events that were fanned out in such a period have no delivery to it.
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
    -- The number of events to recover when it began, and how many of them have been enqueued so far.
    count        integer not null,
    queued       integer not null default 0,
    -- The window as event ids, from first_id (inclusive) to until_id (exclusive). The cursor is the last id examined.
    first_id     uuid not null,
    until_id     uuid not null,
    cursor       uuid not null,
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
    -- Null: for all users; a publisher of null: published in process.
    user_id        text,
    publisher_id   text,
    -- W3C Trace Context of the publishing request; null when the request had none.
    traceparent    text,
    -- The exact bytes that every receiver gets.
    body           text not null,
    is_test        boolean not null default false,
    accepted_at    timestamptz not null default clock_timestamp(),
    fanned_out_at  timestamptz(3),
    -- The end of its lease, see deliveries/rows/lease.ts. Claimed: a worker fans it out and extends its lease.
    leased_until   timestamptz(3) not null default clock_timestamp() + interval '5 seconds',
    claimed        boolean not null default false
  ) partition by range (id);
  create index events_user on webhook_service.events (user_id, id);
  create index events_user_name on webhook_service.events (user_id, name, id);
  -- Only events published for other users: a publisher's own are found by user_id; without a publisher: in process.
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
