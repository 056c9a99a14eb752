// Pages of a long delivery log over HTTP, compared with the same pages of a shorter one: they should take the same
// time.
import { writeLog } from '../log-rows.mjs';
import { alternate } from '../rounds.mjs';
import { createAudience, Service } from '../processes/services.mjs';
import { now } from '../processes/remote.mjs';
import { percentile } from '../statistics.mjs';

const READS = 200;
const LIMIT = 50;
/** The rows are spread over these last hours: partitions reach back to yesterday. */
const HOURS = 20;

export const logPage = (bench) => comparePages(bench, 1_000, 100_000);
export const longLogPage = (bench) => comparePages(bench, 100_000, 5_000_000);

async function comparePages(bench, ...sizes) {
  // A page has fifty rows, and another page follows it.
  const [fewRows, rows] = sizes.map((size) => Math.max(bench.scaled(size), 1000));
  const service = await Service.start(bench, bench.stores.queues[0], { ROLE: 'api' });
  const [few, many] = [await fill(bench, service, 'few', fewRows), await fill(bench, service, 'many', rows)];
  await service.query('analyze webhook_service.deliveries');
  // The first pages of a process are slow, regardless of the log.
  await readPages(service, few);
  await alternate(bench, {
    title: `page of a log of ${rows} rows, beside ${fewRows}`,
    unit: 'ms',
    limit: () => readPages(service, few),
    measure: () => readPages(service, many),
  });
  await service.end();
}

/** Creates a webhook whose log has this many succeeded rows, as if they had been sent. */
async function fill(bench, service, user, rows) {
  const audience = await createAudience(bench, service, { user, webhooks: 1 });
  bench.say(`writing ${rows} rows of the delivery log`);
  const url = bench.receiverUrl + audience.paths[0];
  await writeLog(service, {
    rows,
    until: now(),
    span: HOURS * 3_600_000,
    webhookId: audience.webhookIds[0],
    user,
    url,
  });
  return { ...audience, rows };
}

/** Reads the newest page of the webhook's log, the page after one from its middle, and the newest page of all webhooks. */
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
