import type { Statement } from '../plumbing/database/statements.service';

/** How long after its due time a job is believed to attend to a row, */
export const ATTENDED_MS = 10_000;
export const ATTENDED = `interval '${ATTENDED_MS} milliseconds'`;
/** and one that is parked: every worker lets it in; if none did for so long, the sweeper would. */
export const PARKED = `interval '1 hour'`;

/** The clock of a process is PostgreSQL's to within less. */
export const SAME_TIME_MS = 2000;
/**
 * How long the sweeper's own job is believed to attend to a row: longer than any other, so that one that comes after all can
 * see in the row that another took its place.
 */
export const RENEWED = `interval '${ATTENDED_MS + SAME_TIME_MS + 500} milliseconds'`;

export const LOAD_DUE: Statement = {
  name: 'load_due_deliveries',
  text: `
    select d.id, d.webhook_id as "webhookId", d.user_id as "userId", d.event_id as "eventId", d.event, d.attempt, d.trigger, d.status,
           ceil(extract(epoch from d.scheduled_at - now()) * 1000)::float8 as "dueInMs",
           (extract(epoch from d.attended_until) * 1000)::float8 as "attendedUntilMs", e.body, e.traceparent,
           w.url, w.secret as "sealedSecret", w.active,
           case when w.previous_secret_expires_at > now() then w.previous_secret end as "sealedPreviousSecret"
    from webhook_service.deliveries d
    join webhook_service.events e on e.id = d.event_id
    left join webhook_service.webhooks w on w.id = d.webhook_id
    where d.id = any($1::uuid[]) and d.id between $2 and $3`,
};

export const RECORD: Statement = {
  name: 'record_attempts',
  text: `
    with outcome as (
      select * from json_to_recordset($1::json) as o
        (id uuid, status text, error_code text, error_message text, url text, attempted_at timestamptz, duration_ms int,
         request_headers json, response_status int, response_headers json, response_body text,
         response_body_truncated boolean, next_id uuid, delay_ms float8)
    ), done as (
      update webhook_service.deliveries d set
        status = o.status, error_code = o.error_code, error_message = o.error_message, url = coalesce(o.url, d.url),
        -- A process measures PostgreSQL's clock to within milliseconds: the order within a row is kept exactly.
        attempted_at = case when o.attempted_at is not null then greatest(o.attempted_at, d.scheduled_at) end,
        completed_at = greatest(now(), o.attempted_at + o.duration_ms * interval '1 millisecond', d.scheduled_at),
        duration_ms = o.duration_ms,
        request_headers = o.request_headers, response_status = o.response_status,
        response_headers = o.response_headers, response_body = o.response_body,
        response_body_truncated = o.response_body_truncated,
        next_attempt_at = case when d.status = 'pending' then now() + o.delay_ms * interval '1 millisecond' end
      from outcome o
      where d.id = o.id and d.id between $2 and $3
        and (d.status = 'pending' or (d.status = 'canceled' and d.attempted_at is null and o.attempted_at is not null))
      returning d.*, o.next_id, o.delay_ms
    ), next as (
      insert into webhook_service.deliveries
        (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, attended_until)
      select next_id, webhook_id, user_id, event_id, event, url, attempt + 1, trigger, 'pending', next_attempt_at,
             next_attempt_at + ${ATTENDED}
      from done where next_attempt_at is not null
    )
    select id, status,
           case when next_attempt_at is not null then next_id end as "nextId",
           case when next_attempt_at is not null then delay_ms end as "nextInMs",
           (select consecutive_failures from webhook_service.webhooks w where w.id = webhook_id) as "consecutiveFailures"
    from done`,
};

export const ENTRUST_TO_SWEEPER: Statement = {
  name: 'entrust_deliveries_to_sweeper',
  text: `
    update webhook_service.deliveries set attended_until = scheduled_at
    where id = any($1::uuid[]) and id between $2 and $3 and status = 'pending'`,
};

/**
 * By a job with the delivery's id, of which there is no other: the row was entrusted to the sweeper, who has not come yet or
 * has just made no job of it, because this one was known.
 */
export const TAKE_BACK: Statement = {
  name: 'take_delivery_back',
  text: `
    update webhook_service.deliveries set attended_until = now() + ${ATTENDED}
    where id = $1 and status = 'pending' and not parked
      and (attended_until <= scheduled_at or attended_until > now() + ${ATTENDED})
    returning id`,
};

export const ATTEND: Statement = {
  name: 'attend_to_deliveries',
  text: `
    update webhook_service.deliveries set attended_until = greatest(attended_until, now() + ${ATTENDED})
    where id = any($1::uuid[]) and id between $2 and $3 and status = 'pending'`,
};

export const LAST_SUCCESS: Statement = {
  name: 'last_success',
  text: `
    select completed_at as "completedAt" from webhook_service.deliveries
    where webhook_id = $1 and status = 'succeeded' and trigger <> 'test'
    order by id desc limit 1`,
};

/** In the order of ids, as outcomes are written too: neither waits for the other in a circle. */
export const CANCEL_PENDING: Statement = {
  name: 'cancel_pending_deliveries',
  text: `
    with pending as (
      select id from webhook_service.deliveries
      where webhook_id = $1 and status = 'pending' and trigger <> 'test'
      order by id for update
    )
    update webhook_service.deliveries d
    set status = 'canceled', error_code = $2, error_message = $3, completed_at = now()
    from pending where d.id = pending.id and d.webhook_id = $1 and d.status = 'pending'`,
};
