// Writes rows of the delivery log in one statement, as if they had been sent.

const uuid = (time, random) =>
  `(lpad(to_hex(${time}), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(${random}), 15, '0'))::uuid`;

const INSERT = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, attempt, trigger, status, url, response_status, duration_ms,
     scheduled_at, attempted_at, completed_at, request_headers, response_headers, response_body,
     response_body_truncated, leased_until)
  select ${uuid('ms', 'n')}, $4::uuid, $5, ${uuid('ms', 'n + 1152921504606846975 / 2')}, 'follower.gained', 1, 'event',
         'succeeded', $6, 200, 12, at, at, at, '{"content-type":"application/json"}', '{"connection":"keep-alive"}', '',
         false, at
  from (
    select n, ms, to_timestamp(ms / 1000.0) as at from (
      select n, ($2::bigint - $3::bigint * (1 - n / $1::float8))::bigint as ms from generate_series(1, $1::bigint) as n
    ) as moment
  ) as moment`;

/** Writes this many succeeded rows of a webhook, evenly spread over the `span` before `until`, both in ms. */
export function writeLog(service, { rows, until, span, webhookId, user, url }) {
  return service.query(INSERT, [rows, Math.floor(until), span, webhookId, user, url]);
}
