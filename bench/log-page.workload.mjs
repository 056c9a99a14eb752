// Pages of a long delivery log over HTTP, beside the same pages of a log of 1,000 rows: they should take the same time.
import { inTurns } from './rounds.mjs';
import { createAudience, Service } from './services.mjs';
import { now } from './remote.mjs';
import { percentile } from './statistics.mjs';

const FEW_ROWS = 1_000;
const READS = 200;
const LIMIT = 50;
/** The rows are spread over these last hours: partitions reach back to yesterday. */
const HOURS = 20;

export const logPage = (bench) => comparePages(bench, 100_000);
export const longLogPage = (bench) => comparePages(bench, 5_000_000);

async function comparePages(bench, wanted) {
  const rows = Math.max(bench.scaled(wanted), FEW_ROWS);
  const service = await Service.start(bench, bench.stores.queues[0], { ROLE: 'api' });
  const [few, many] = [await fill(bench, service, 'few', FEW_ROWS), await fill(bench, service, 'many', rows)];
  await service.query('analyze webhook_service.deliveries');
  // The first pages of a process are slow, whatever the log.
  await readPages(service, few);
  await inTurns(bench, {
    title: `page of a log of ${rows} rows`,
    unit: 'ms',
    limit: () => readPages(service, few),
    measure: () => readPages(service, many),
  });
  await service.end();
}

/** A webhook whose log has that many succeeded rows, as if they had been sent. */
async function fill(bench, service, user, rows) {
  const audience = await createAudience(bench, service, { user, webhooks: 1 });
  bench.say(`writing ${rows} rows of the delivery log`);
  const url = bench.receiverUrl + audience.paths[0];
  await service.query(INSERT, [rows, HOURS * 3_600_000, audience.webhookIds[0], user, url]);
  return { ...audience, rows };
}

const uuid = (time, random) =>
  `(lpad(to_hex(${time}), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(${random}), 15, '0'))::uuid`;

const INSERT = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, attempt, trigger, status, url, response_status, duration_ms,
     scheduled_at, attempted_at, completed_at, request_headers, response_headers, response_body,
     response_body_truncated, attended_until)
  select ${uuid('ms', 'n')}, $3::uuid, $4, ${uuid('ms', 'n + 1152921504606846975 / 2')}, 'follower.gained', 1, 'event',
         'succeeded', $5, 200, 12, at, at, at, '{"content-type":"application/json"}', '{"connection":"keep-alive"}', '',
         false, at
  from (
    select n, ms, to_timestamp(ms / 1000.0) as at from (
      select n, (extract(epoch from now()) * 1000 - $2::bigint * (1 - n / $1::float8))::bigint as ms
      from generate_series(1, $1::bigint) as n
    ) as moment
  ) as moment`;

/** The newest page of the webhook's log, the page after one from its middle, and the newest page over all webhooks. */
async function readPages(service, { token, webhookIds, rows }) {
  const log = `/api/webhooks/${webhookIds[0]}/deliveries?limit=${LIMIT}`;
  const middle = `${log}&until=${new Date(Date.now() - (HOURS * 3_600_000) / 2).toISOString()}`;
  const { nextCursor } = await service.call('GET', middle, undefined, token);
  const pages = {
    newest: log,
    middle: `${middle}&cursor=${encodeURIComponent(nextCursor)}`,
    'all webhooks': `/api/deliveries?limit=${LIMIT}`,
  };
  const [values, problems] = [{}, await countProblems(service, webhookIds[0], rows)];
  for (const [name, path] of Object.entries(pages)) {
    const tookMs = [];
    for (let i = 0; i < READS; i++) {
      const startedAt = now();
      const page = await service.call('GET', path, undefined, token);
      tookMs.push(now() - startedAt);
      if (i === 0) problems.push(...pageProblems(name, page));
    }
    values[`${name}, p50`] = percentile(tookMs, 0.5);
    values[`${name}, p99`] = percentile(tookMs, 0.99);
  }
  return { values, problems };
}

async function countProblems(service, webhookId, wanted) {
  const [{ rows }] = await service.query(
    'select count(*)::int as rows from webhook_service.deliveries where webhook_id = $1',
    [webhookId],
  );
  return rows === wanted ? [] : [`the log has ${rows} rows, not ${wanted}`];
}

function pageProblems(name, { data, nextCursor }) {
  const ids = data.map(({ id }) => id);
  const isNewestFirst = ids.every((id, i) => i === 0 || id < ids[i - 1]);
  return ids.length === LIMIT && isNewestFirst && nextCursor !== null ? [] : [`the page "${name}" is not right`];
}
