/** One row per attempt, in partitions of a day. */
export const DELIVERIES = `
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
    -- The holder of a pending row and the end of its lease: see deliveries/rows/lease.ts.
    parked                  boolean not null default false,
    claimed                 boolean not null default false,
    leased_until            timestamptz(3) not null,
    -- The transactions that inserted it and that last changed its status: see deliveries/log/changes.repository.ts.
    created_in              xid8 not null default pg_current_xact_id(),
    changed_in              xid8 not null default pg_current_xact_id()
  ) partition by range (id);
  create index deliveries_webhook on webhook_service.deliveries (webhook_id, id);
  create index deliveries_user on webhook_service.deliveries (user_id, id);
  create index deliveries_event on webhook_service.deliveries (user_id, event_id, id);
  create index deliveries_pending on webhook_service.deliveries (webhook_id, event_id) where status = 'pending';
  create index deliveries_lease on webhook_service.deliveries (leased_until) where status = 'pending';
  -- Finds the webhooks that have deferred rows, one after the other.
  create index deliveries_parked on webhook_service.deliveries (user_id, webhook_id, id)
    where status = 'pending' and parked;
  -- For the filters of the log. They are partial, so that most rows write to none of them.
  create index deliveries_webhook_failed on webhook_service.deliveries (webhook_id, status, id)
    where status in ('failed', 'canceled');
  create index deliveries_user_unsucceeded on webhook_service.deliveries (user_id, status, id)
    where status <> 'succeeded';
  create index deliveries_webhook_trigger on webhook_service.deliveries (webhook_id, trigger, id) where trigger <> 'event';
  create index deliveries_user_trigger on webhook_service.deliveries (user_id, trigger, id) where trigger <> 'event';
  create index deliveries_user_event on webhook_service.deliveries (user_id, event, id);
  -- For requests that wait for changes.
  create index deliveries_changed on webhook_service.deliveries (changed_in);
  -- Tells PostgreSQL which values are correlated: a webhook that never fails is not searched for failures row by row.
  create statistics webhook_service.deliveries_filters (mcv) on user_id, webhook_id, event, trigger, status
    from webhook_service.deliveries;
`;

/** Attempts counted by outcome: one row each for those of the last seconds, totals for all others. */
export const COUNTS = `
  create table webhook_service.recent_attempts (
    webhook_id     uuid not null,
    user_id        text not null,
    status         text not null,
    -- Empty: no error.
    error_code     text not null,
    -- Response time class, see webhooks/stats/duration-class.ts; 0: no response.
    duration_class smallint not null,
    at             timestamptz not null,
    -- -1 when an attempt that was counted as canceled was made after all.
    count          integer not null
  );
  create table webhook_service.attempt_counts (
    webhook_id     uuid not null,
    user_id        text not null,
    -- Length of the period that starts at "at": 5 or 60.
    minutes        smallint not null,
    status         text not null,
    at             timestamptz(0) not null,
    error_code     text not null,
    duration_class smallint not null,
    count          integer not null,
    primary key (webhook_id, minutes, status, at, error_code, duration_class)
  ) with (fillfactor = 80);
  create index attempt_counts_user on webhook_service.attempt_counts (user_id, minutes, at);
  create index attempt_counts_at on webhook_service.attempt_counts using brin (at);
`;
