export const DEFAULT_OUTBOX = 'webhook_outbox';
const TABLE_NAME = /^[a-z_][a-z0-9_]{0,59}(\.[a-z_][a-z0-9_]{0,59})?$/;

/** The statements of an outbox. */
export interface OutboxStatements {
  /** Creates the table and its newer columns, if they are missing. One statement each. */
  create: readonly string[];
  /** Writes events ($1: a list of place, name, userId, data, key, subject). Returns when each was accepted, in order. */
  write: string;
  /** Claims the oldest unclaimed events, 100 at most, for a minute; $1 is the user who publishes them. */
  claim: string;
  /** Removes events ($1: a list of positions) that the service has accepted. */
  remove: string;
  /** Lets others relay events ($1: a list of positions) after this many seconds ($2). */
  release: string;
  /** The number of waiting events, the age of the oldest in seconds, and the number of rejected ones. */
  summary: string;
  /** The users as whom waiting events were relayed before; these users own the idempotency keys. */
  relayedAs: string;
  /** The last ten rejected events. */
  refused: string;
  /** Returns a rejected event ($1: its position), or all of them (an empty text), to the waiting ones. */
  retry: string;
  /** Sets an event ($1: its position) aside, with its error message ($2). */
  refuse: string;
}

/**
 * Returns the statements of an outbox with this name.
 * @throws TypeError for a name that would require quotes
 */
export function outboxStatements(table: string): OutboxStatements {
  if (!TABLE_NAME.test(table)) {
    throw new TypeError(`The outbox ${JSON.stringify(table)} must be named in lower case, with its schema or without.`);
  }
  const positions = 'select p::bigint from json_array_elements_text($1::text::json) as p';
  return {
    create: createStatements(table),
    write: `
  with given as (
    select * from json_to_recordset($1::text::json) as e (place integer, name text, "userId" text, data text, key text, subject text)
  ), written as (
    insert into ${table} (name, user_id, data, idempotency_key, subject)
    select name, "userId", data, coalesce(key, gen_random_uuid()::text), subject from given order by place
    returning position, created_at
  )
  select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
  from written order by position`,
    claim: `
  with waiting as (
    select position from ${table} where refused is null and claimed_until <= now()
    order by position limit 100 for update skip locked
  ), claimed as (
    update ${table} as o
    set claimed_until = now() + interval '1 minute', relayed_as = coalesce(o.relayed_as, $1::text) from waiting
    where o.position = waiting.position
    returning o.position, o.name, o.user_id, o.data, o.idempotency_key, o.subject
  )
  select position::text, name as event, user_id as "userId", data, idempotency_key as "idempotencyKey", subject
  from claimed order by claimed.position`,
    remove: `with gone as (delete from ${table} where position in (${positions}) returning 1) select count(*) from gone`,
    release: `
  with released as (
    update ${table} set claimed_until = now() + $2::text::integer * interval '1 second'
    where position in (${positions}) returning 1
  )
  select count(*) from released`,
    ...reports(table),
    retry: `
  with retried as (
    update ${table} set refused = null, claimed_until = '-infinity'
    where refused is not null and ($1::text = '' or position = nullif($1::text, '')::bigint) returning 1
  )
  select count(*)::text as count from retried`,
    refuse: `
  with refused as (update ${table} set refused = $2::text where position = $1::text::bigint returning 1)
  select count(*) from refused`,
  };
}

const reports = (table: string) => ({
  summary: `
  select
  (select count(*) from ${table} where refused is null)::text as waiting,
  (select floor(extract(epoch from now() - created_at)) from ${table} where refused is null order by position limit 1)::text
    as seconds,
  (select count(*) from ${table} where refused is not null)::text as refused`,
  // Events are relayed oldest first.
  relayedAs: `
  select distinct relayed_as as "userId"
  from (select relayed_as from ${table} where refused is null order by position limit 1000) as oldest
  where relayed_as is not null`,
  refused: `
  select position::text, name, refused from ${table} where refused is not null order by position desc limit 10`,
});

const createStatements = (table: string): string[] => [
  `create table if not exists ${table} (
  position        bigint generated always as identity primary key,
  name            text not null,
  -- Null: all users.
  user_id         text,
  -- The JSON text of its data.
  data            text not null,
  -- The service treats another relay of the same event as a duplicate.
  idempotency_key text not null,
  created_at      timestamptz not null default now(),
  -- The relay that claimed the event holds it until then.
  claimed_until   timestamptz not null default '-infinity',
  -- The user as whom it was first relayed, who owns its idempotency key in the service.
  relayed_as      text,
  -- Why the service rejected it; null: it is waiting.
  refused         text
)`,
  `create index if not exists ${table.split('.').at(-1)}_waiting on ${table} (position) where refused is null`,
  // Null: no subject. Tables of version 0.3 do not have it.
  `alter table ${table} add column if not exists subject text`,
];
