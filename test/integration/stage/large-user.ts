import { BEFORE_ALL_IDS } from '../../../src/infrastructure/database/id-time';
import type { TestDatabase } from '../../support/postgres';

/** Ids of what the routes are asked for. */
export interface LargeUser {
  userId: string;
  push: string;
  pull: string;
  account: string;
  recovery: string;
  erasure: string;
  event: string;
  delivery: string;
  failed: string;
  /** Made with the token of the user. */
  token: string;
}

/** A UUIDv7 of the n-th of `$1` moments of the last twenty hours; the kind keeps it apart from others. */
const idOf = (kind: string, n = 'n') =>
  `(lpad(to_hex(($2::bigint - 72000000::bigint * ($1::int - ${n}) / $1::int)), 12, '0') || '7' || '00${kind}' || '8' || lpad(to_hex(${n}), 15, '0'))::uuid`;
const AT = `to_timestamp(($2::bigint - 72000000::bigint * ($1::int - n) / $1::int) / 1000.0)`;
const SERIES = 'generate_series(1, $1::int) as n';
const BODY = `'{"id":"","event":"job.started","createdAt":"2026-01-15T09:30:00.000Z","data":{"jobId":"one"}}'`;
/** Half of everything is about one subject. */
const SUBJECT = `case when n % 2 = 0 then 'invoice/1' else 'invoice/' || n end`;
const FANNED_OUT = `${AT}, ${AT}, ${AT}`;

const events = (kind: string, user: string, publisher: string, name = `'job.started'`) => `
  insert into webhook_service.events
    (id, name, user_id, publisher_id, subject, body, accepted_at, fanned_out_at, leased_until)
  select ${idOf(kind)}, ${name}, ${user}, ${publisher}, ${SUBJECT}, ${BODY}, ${FANNED_OUT} from ${SERIES}`;

const deliveries = (kind: string, eventKind: string, columns: Record<string, string>) => {
  const all = {
    ...{
      event: `'job.started'`,
      subject: SUBJECT,
      attempt: '1',
      trigger: `'event'`,
      url: `'https://receiver.example/'`,
    },
    ...{ scheduled_at: AT, leased_until: AT },
    ...columns,
  };
  return `
  insert into webhook_service.deliveries (id, event_id, ${Object.keys(all).join(', ')})
  select ${idOf(kind)}, ${idOf(eventKind)}, ${Object.values(all).join(', ')} from ${SERIES}`;
};

/** The most that MAX_WEBHOOKS_PER_USER allows. The user has three others already. */
export const MAX_WEBHOOKS = 10_000;

/** The most of one webhook that are kept. */
const MAX_RECOVERIES = 1000;

const others = (many: number) => `'somebody-' || n % ${many}`;

/** What each statement inserts: `$1` rows, until the moment `$2` in ms. */
function statementsOf({ userId, push, pull, account, token }: LargeUser): string[] {
  const [user, hook, pulled] = [`'${userId}'`, `'${push}'::uuid`, `'${pull}'::uuid`];
  const attempted = { attempted_at: AT, completed_at: AT, request_headers: `'{}'`, duration_ms: '12' };
  return [
    events('1', user, user),
    events('2', 'null', `'gateway'`),
    events('3', others(500), user),
    events('4', others(500), others(500)),
    // Events that wait for their fan-out.
    `insert into webhook_service.events (id, name, user_id, publisher_id, body, accepted_at, leased_until)
     select ${idOf('5')}, 'job.completed', ${user}, ${user}, ${BODY}, ${AT}, now() + interval '1 hour' from ${SERIES}`,
    deliveries('1', '1', {
      ...{ webhook_id: hook, user_id: user, ...attempted },
      status: `case when n % 10 = 0 then 'failed' else 'succeeded' end`,
      error_code: `case when n % 10 = 0 then 'http_status' end`,
      response_status: `case when n % 10 = 0 then 500 else 200 end`,
      trigger: `case when n % 3 = 0 then 'redelivery' else 'event' end`,
    }),
    deliveries('4', '4', { webhook_id: `md5((n % 500)::text)::uuid`, user_id: others(500), status: `'succeeded'` }),
    // Rows that wait: for a slot, for a retry, for the sweeper, for a consumer, and for the end of a lease.
    deliveries('5', '5', {
      ...{ webhook_id: hook, user_id: user, status: `'pending'`, parked: 'n % 2 = 0' },
      leased_until: `case when n % 2 = 0 then 'infinity' else now() + interval '1 hour' end`,
    }),
    deliveries('6', '2', {
      webhook_id: hook,
      user_id: user,
      status: `'pending'`,
      leased_until: `now() - interval '1 hour'`,
    }),
    deliveries('7', '2', {
      ...{ webhook_id: pulled, user_id: user, status: `'pending'`, url: 'null' },
      leased_until: `'infinity'`,
    }),
    deliveries('8', '1', {
      ...{
        webhook_id: pulled,
        user_id: user,
        status: `'pending'`,
        url: 'null',
        attempted_at: 'now()',
        claimed: 'true',
      },
      ...{ leased_until: `now() + interval '5 minutes'`, lease_id: 'gen_random_uuid()' },
    }),
    // Of this user, and of others.
    ...[user, `'other-' || n`].map(
      (owner, i) => `
      insert into webhook_service.webhooks
        (id, user_id, kind, url, events, secret, description, metadata, external_id, idle_seconds, last_leased_at,
         failing_since, told_failing)
      select ${idOf(i === 0 ? 'a' : 'b')}, ${owner}, case when n % 3 = 0 then 'pull' else 'push' end,
             case when n % 3 <> 0 then 'https://receiver.example/' || n end, '{operation.*}', '', 'number ' || n,
             jsonb_build_object('n', n::text), 'external ' || n, case when n % 3 = 0 then 600000 end,
             case when n % 3 = 0 then now() end, case when n % 3 = 1 then now() end, false
      from generate_series(1, ${i === 0 ? `least($1::int, ${MAX_WEBHOOKS - 4})` : '$1::int'}) as n`,
    ),
    `insert into webhook_service.stopping_webhooks (webhook_id, user_id, reason)
     select ${idOf('c')}, ${others(1_000_000)}, 'webhook_deleted' from ${SERIES}`,
    ...[hook, idOf('b')].flatMap((webhook, i) => [
      `insert into webhook_service.recoveries
         (id, webhook_id, user_id, status, count, first_id, until_id, cursor, completed_at)
       select ${idOf(i === 0 ? 'd' : 'e')}, ${webhook}, ${user}, ${i === 0 ? `'done'` : `'running'`}, 0, ${idOf('0')},
              ${idOf('0')}, ${idOf('0')}, ${i === 0 ? 'now()' : 'null'}
       from generate_series(${i === 0 ? `greatest(1, $1::int - ${MAX_RECOVERIES - 1})` : '1'}, $1::int) as n`,
    ]),
    `insert into webhook_service.webhook_pauses (webhook_id, started_at, ended_at)
     select ${hook}, ${AT} - interval '1 day', ${AT} - interval '1 day' from ${SERIES}`,
    `insert into webhook_service.attempt_counts
       (webhook_id, user_id, minutes, status, at, error_code, duration_class, count, last_at)
     select ${idOf('a')}, ${user}, minutes, 'succeeded', date_trunc('hour', ${AT}), '', 1, 1, ${AT}
     from ${SERIES} cross join unnest('{5,60}'::smallint[]) as m (minutes)`,
    ...[user, others(500)].map(
      (owner) => `
      insert into webhook_service.user_attempt_counts (user_id, minutes, status, at, error_code, duration_class, count)
      select ${owner}, minutes, 'succeeded', date_trunc('hour', ${AT}), '', n % 33, 1
      from ${SERIES} cross join unnest('{5,60}'::smallint[]) as m (minutes) on conflict do nothing`,
    ),
    `insert into webhook_service.event_keys (publisher_id, key, event_id, fingerprint)
     select ${user}, 'key ' || n, ${idOf('1')}, '' from ${SERIES}`,
    `insert into webhook_service.access_tokens (id, user_id, name, token_hash, scopes, parent_id)
     select ${idOf('f')}, ${others(1_000_000)}, 'x', sha256(n::text::bytea), '{}', '${token}' from ${SERIES}`,
    `insert into webhook_service.console_links (code_hash, code_expires_at, user_id, scopes, expires_at)
     select sha256(n::text::bytea), now() - interval '1 hour', ${user}, '{}', now() from ${SERIES}`,
    `insert into webhook_service.erasures (id, status, user_hash, requested_by)
     select ${idOf('0')}, 'done', sha256(n::text::bytea), ${user} from ${SERIES}`,
    `insert into webhook_service.queue_jobs (queue, job_id, user_is, user_id)
     select 'jobs', n::text, 'named', ${user} from ${SERIES}`,
    `insert into webhook_service.account_followers (account_id, follower_id, username)
     select '${account}', n::text, 'follower ' || n from ${SERIES}`,
    `insert into webhook_service.accounts (id, user_id, provider, handle, interval_seconds, next_reading_at, created_at)
     select ${idOf('9')}, ${others(1_000_000)}, 'mastodon', 'x', 300, now() + interval '1 hour', now() from ${SERIES}`,
  ];
}

/**
 * Gives a user, who has the webhooks, the account and the token already, this many rows of everything, and others as many. Nothing
 * is vacuumed or analyzed, and the next day's partitions are empty.
 */
export async function grow(
  database: TestDatabase,
  rows: number,
  user: Pick<LargeUser, 'userId' | 'push' | 'pull' | 'account' | 'token'>,
): Promise<LargeUser> {
  const untilMs = Date.now() - 60_000;
  const idAt = async (kind: string, n: number) =>
    (await database.query<{ id: string }>(`select ${idOf(kind, '$3::int')} as id`, [rows, untilMs, n]))[0]!.id;
  const large: LargeUser = {
    ...user,
    recovery: await idAt('d', rows),
    erasure: await idAt('0', rows),
    event: await idAt('1', rows - 1),
    delivery: await idAt('1', rows - 1),
    failed: await idAt('1', rows),
  };
  // Yesterday has the same indexes.
  await database.query(`update webhook_service.installation set subjects_from = '${BEFORE_ALL_IDS}'`);
  for (const statement of statementsOf(large)) {
    // PostgreSQL does not infer the type of a parameter that a statement lacks.
    await database.query(`with moment as (select $1::int, $2::bigint) ${statement}`, [rows, untilMs]);
  }
  return large;
}
