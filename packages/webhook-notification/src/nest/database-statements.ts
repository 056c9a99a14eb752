/** The version of the service's tables that this package expects. Versions that differ by one are compatible. */
export const SCHEMA_VERSION = 2;

export const READ_VERSION = 'select version from webhook_service.schema_version';

/** The first part of the names of the service's queues on Redis. */
export const READ_QUEUE_PREFIX = `
  select coalesce(queue_prefix, 'webhooks-' || id) as prefix from webhook_service.installation`;

const writeEvents = (withSubject: boolean): string => `
  with given as materialized (
    select e.*, date_trunc('milliseconds', clock_timestamp()) as at, replace(gen_random_uuid()::text, '-', '') as random
    from json_to_recordset($1::text::json)
      as e (place integer, name text, "userId" text, data text, key text, fingerprint text, traceparent text,
            subject text, about text)
  ), event as materialized (
    -- UUIDv7 (RFC 9562): 48 bits of time, the version, and the random bits of a version 4.
    select g.*,
      (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(random, 14))::uuid as id,
      to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
    from given as g
  ), won as (
    insert into webhook_service.event_keys (publisher_id, key, event_id, fingerprint)
    select '', key, id, decode(fingerprint, 'hex') from event where key is not null order by key
    on conflict do nothing returning event_id
  ), written as (
    insert into webhook_service.events (id, name, user_id, body, traceparent, leased_until${withSubject ? ', subject' : ''})
    select id, name, "userId",
      '{"id":"' || id || '","event":"' || name || '","createdAt":"' || "createdAt" || '",' || coalesce(about, '') || '"data":' || data || '}',
      traceparent, clock_timestamp()${withSubject ? ', subject' : ''}
    from event where key is null or id in (select event_id from won)
  )
  select id::text, "createdAt", (key is null or id in (select event_id from won))::text as wins from event order by place`;

/**
 * Writes events ($1: a list of place, name, userId, data, key, fingerprint, traceparent, subject, about). Ids and times are
 * PostgreSQL's. `about` is the member of the body that has the subject, because JSON texts of PostgreSQL and JavaScript differ. An
 * event with a key is written only when it is the first with that key, as `wins` shows. The service finds the rows by itself,
 * because their lease has expired.
 */
export const WRITE_EVENTS_WITH_SUBJECTS = writeEvents(true);

/** The same for events without a subject, also in the tables of a service that does not know subjects. */
export const WRITE_EVENTS = writeEvents(false);

/** Finds the events with these keys ($1: a list) that were published in process. */
export const FIND_KEYS = `
  select key, event_id::text as id, encode(fingerprint, 'hex') as fingerprint
  from webhook_service.event_keys
  where publisher_id = '' and key in (select json_array_elements_text($1::text::json))`;

/** Finds the events with these ids ($1: a list). */
export const FIND_EVENTS = `
  select id::text as id, name, user_id as "userId", body
  from webhook_service.events where id in (select json_array_elements_text($1::text::json)::uuid)`;

/** Finds the declared types with these names ($1: a list). */
export const FIND_TYPES = `
  select name, description, schema::text as schema, example::text as example, application
  from webhook_service.event_types where name in (select json_array_elements_text($1::text::json))`;

/** Declares a type (name, description, schema, example, application) if its name is free in any case. Returns a row if it did. */
export const DECLARE_TYPE = `
  insert into webhook_service.event_types (name, description, schema, example, application)
  select $1::text, $2::text, $3::text::json, $4::text::json, $5::text
  where (select count(*) from webhook_service.event_types) < 500
  on conflict do nothing
  returning name`;

/** Finds the name of a declared type that differs from this one ($1) only in case. */
export const FIND_TWIN = `
  select name from webhook_service.event_types where lower(name) = lower($1::text) and name <> $1::text`;

/** Changes the description and example of a declared type (name, description, example, application). */
export const RENEW_TYPE = `
  update webhook_service.event_types set description = $2::text, example = $3::text::json, version = default
  where name = $1::text and application = $4::text`;
