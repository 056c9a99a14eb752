// Publishing while retention drops a day of a million deliveries in the same process, compared with publishing while it
// drops nothing. The limit of the drop itself is an empty day.
import { setTimeout as pause } from 'node:timers/promises';
import { writeLog } from '../log-rows.mjs';
import { alternate } from '../rounds.mjs';
import { now } from '../processes/remote.mjs';
import { createAudience, Service, warmUp } from '../processes/services.mjs';
import { percentile } from '../statistics.mjs';
import { logProblems, receivedProblems } from '../verdict.mjs';

const ROWS = 1_000_000;
const RATE = 200;
const SECONDS = 8;
/** The measured period begins here and lasts at least a second; where nothing is dropped, it lasts as long as publishing. */
const BEGINS_AFTER_MS = 2000;
const LASTS_MS = 1000;
const DAY_MS = 86_400_000;
/** Well past RETENTION_DAYS. */
const DAYS_AGO = 40;
const ALL_WITHIN_MS = 60_000;

export async function dropping(bench) {
  const service = await Service.start(bench, bench.stores.queues[0]);
  await warmUp(bench, service);
  const audience = await createAudience(bench, service, { user: 'publishing', webhooks: 1 });
  const rows = bench.scaled(ROWS);
  await alternate(bench, {
    title: `publishing at ${RATE}/s while a day of ${rows} deliveries is dropped`,
    unit: 'ms',
    limit: async () => {
      const { values, problems } = await publishing(bench, service, audience, pause(BEGINS_AFTER_MS));
      await makeDay(bench, service, audience, 0);
      const empty = await drop(service);
      return { values: { ...values, 'the drop': empty.endedAt - empty.beganAt }, problems };
    },
    measure: async () => {
      await makeDay(bench, service, audience, rows);
      const dropped = pause(BEGINS_AFTER_MS).then(() => drop(service));
      const { values, problems } = await publishing(bench, service, audience, dropped);
      const { beganAt, endedAt, left } = await dropped;
      return {
        values: { ...values, 'the drop': endedAt - beganAt },
        problems: [...problems, ...(left > 0 ? ['the day is still there'] : [])],
      };
    },
  });
  await service.end();
}

/** Publishes for some seconds, and returns the response times within the measured period. */
async function publishing(bench, service, audience, happens) {
  const { group, token, paths } = audience;
  await bench.receiver.ask('forget', { group });
  const load = { url: service.url, token, rate: RATE, count: bench.scaled(RATE * SECONDS) };
  const [sent, happened] = await Promise.all([bench.load.ask('publishAtRate', load), happens]);
  await bench.receiver.ask('complete', { group, count: sent.length, timeoutMs: ALL_WITHIN_MS });
  const eventIds = sent.map(({ eventId }) => eventId);
  const log = await logProblems(service, { ...audience, eventIds });
  const received = receivedProblems(await bench.receiver.ask('report', { group }), { ...audience, eventIds, paths });
  const beganAt = happened?.beganAt ?? sent[0].intendedAt + BEGINS_AFTER_MS;
  const endedAt = happened ? Math.max(happened.endedAt, beganAt + LASTS_MS) : Infinity;
  const meanwhile = sent.filter(({ intendedAt, answeredAt }) => answeredAt >= beganAt && intendedAt <= endedAt);
  const tookMs = (meanwhile.length > 0 ? meanwhile : sent).map(({ intendedAt, answeredAt }) => answeredAt - intendedAt);
  return {
    values: { p50: percentile(tookMs, 0.5), p99: percentile(tookMs, 0.99) },
    problems: [...received, ...log],
  };
}

/** Creates a day past retention with this many deliveries, vacuumed and written to disk as it would be after a month. */
async function makeDay(bench, service, { webhookIds, user, paths }, rows) {
  const from = (Math.floor(now() / DAY_MS) - DAYS_AGO) * DAY_MS;
  const name = new Date(from).toISOString().slice(0, 10).replaceAll('-', '');
  for (const table of ['deliveries', 'events']) {
    await service.query(
      `create table webhook_service.${table}_p${name} partition of webhook_service.${table}
       for values from ('${lowestId(from)}') to ('${lowestId(from + DAY_MS)}')`,
    );
  }
  if (rows === 0) return;
  bench.say(`writing a day of ${rows} deliveries`);
  const url = bench.receiverUrl + paths[0];
  await writeLog(service, { rows, until: from + DAY_MS - 1, span: DAY_MS - 2, webhookId: webhookIds[0], user, url });
  await service.query(`vacuum (analyze) webhook_service.deliveries_p${name}`);
  await service.query('checkpoint');
}

async function drop(service) {
  const took = await service.first.ask('dropOld');
  const [{ left }] = await service.query(
    `select count(*)::int as left from pg_class
     where relname like 'deliveries\\_p________' and relname < 'deliveries_p' || to_char(now() - interval '31 days', 'YYYYMMDD')`,
  );
  return { ...took, left };
}

function lowestId(ms) {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
