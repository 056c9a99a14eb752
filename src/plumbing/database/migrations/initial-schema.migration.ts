import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `events` and `deliveries` are partitioned by the time in their UUIDv7; their days are made by PartitionsService. */
export class InitialSchema1763600000000 implements MigrationInterface {
  name = 'InitialSchema1763600000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [ACCESS_TOKENS, WEBHOOKS, EVENTS, EVENT_KEYS, DELIVERIES]) {
      await queryRunner.query(statement);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of ['deliveries', 'event_keys', 'events', 'webhooks', 'access_tokens']) {
      await queryRunner.query(`drop table webhook_service.${table}`);
    }
  }
}

const ACCESS_TOKENS = `
  create table webhook_service.access_tokens (
    id           uuid primary key,
    user_id      text not null,
    name         text not null,
    -- SHA-256 of the token: the token itself is nowhere.
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
    -- AES-256-GCM, bound to this row's id; see webhooks/secret-box.ts.
    secret                     bytea not null,
    previous_secret            bytea,
    previous_secret_expires_at timestamptz(3),
    active                     boolean not null default true,
    disabled_reason            text,
    consecutive_failures       integer not null default 0,
    -- Last success or activation: the start of the time that counts towards disabling.
    healthy_at                 timestamptz(3) not null default now(),
    -- Full precision: fan-out compares it with the instant an event was accepted.
    created_at                 timestamptz not null default now(),
    updated_at                 timestamptz not null default now()
  );
  create index webhooks_user on webhook_service.webhooks (user_id, id);
  create index webhooks_events on webhook_service.webhooks using gin (events) where active;
`;

const EVENTS = `
  create table webhook_service.events (
    id             uuid primary key,
    name           text not null,
    -- Null: for everybody.
    user_id        text,
    -- Null: published in process.
    publisher_id   text,
    -- The exact bytes that every receiver gets.
    body           text not null,
    is_test        boolean not null default false,
    accepted_at    timestamptz not null default clock_timestamp(),
    fanned_out_at  timestamptz(3),
    -- Until then a job is believed to attend to the row; after that the sweeper makes a new one.
    attended_until timestamptz(3) not null default clock_timestamp() + interval '5 seconds'
  ) partition by range (id);
  create index events_user on webhook_service.events (user_id, id);
  create index events_publisher on webhook_service.events (publisher_id, id) where publisher_id is distinct from user_id;
  create index events_unattended on webhook_service.events (attended_until) where fanned_out_at is null;
`;

const EVENT_KEYS = `
  create table webhook_service.event_keys (
    -- Empty: published in process.
    publisher_id text not null,
    key          text not null,
    event_id     uuid not null,
    -- SHA-256 over event name, audience and data.
    fingerprint  bytea not null,
    created_at   timestamptz(3) not null default now(),
    primary key (publisher_id, key)
  );
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
    -- Until then a job is believed to attend to the row; after that the sweeper makes a new one.
    attended_until          timestamptz(3) not null
  ) partition by range (id);
  create index deliveries_webhook on webhook_service.deliveries (webhook_id, id);
  create index deliveries_user on webhook_service.deliveries (user_id, id);
  create index deliveries_event on webhook_service.deliveries (user_id, event_id, id);
  create index deliveries_pending on webhook_service.deliveries (webhook_id, event_id) where status = 'pending';
  create index deliveries_unattended on webhook_service.deliveries (attended_until) where status = 'pending';
`;
