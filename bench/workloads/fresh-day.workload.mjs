// The first minute of a day: 500 events a second in empty partitions that nothing vacuums. Compares the median of the
// last ten seconds with that of the first ten: any cost that grows with the rows of the day shows here.
import { createAudience, Service } from '../processes/services.mjs';
import { repeat } from '../rounds.mjs';
import { percentile } from '../statistics.mjs';
import { logProblems, receivedProblems } from '../verdict.mjs';

const RATE = 500;
const SECONDS = 60;
const WINDOW_SECONDS = 10;
const ALL_WITHIN_MS = 60_000;

export async function freshDay(bench) {
  for (const queue of bench.stores.queues) {
    await repeat(bench, {
      title: `publish → received at ${RATE}/s, the last seconds of a day's first minute beside its first, ${queue}`,
      unit: 'ms',
      run: () => firstMinute(bench, queue),
    });
  }
}

async function firstMinute(bench, queue) {
  const service = await Service.start(bench, queue);
  try {
    await neverVacuum(service);
    const audience = await createAudience(bench, service, { user: 'early', webhooks: 1 });
    const count = bench.scaled(RATE * SECONDS);
    const sent = await bench.load.ask('publishAtRate', { url: service.url, token: audience.token, rate: RATE, count });
    await bench.receiver.ask('complete', { group: audience.group, count, timeoutMs: ALL_WITHIN_MS });
    const report = await bench.receiver.ask('report', { group: audience.group });
    const eventIds = sent.map(({ eventId }) => eventId);
    const problems = [
      ...receivedProblems(report, { ...audience, eventIds }),
      ...(await logProblems(service, { ...audience, eventIds })),
    ];
    const tookMs = inOrder(sent, report.arrivals);
    const size = Math.ceil((count * WINDOW_SECONDS) / SECONDS);
    const windows = Array.from({ length: SECONDS / WINDOW_SECONDS }, (_, i) => tookMs.slice(i * size, (i + 1) * size));
    bench.say(`p50 by ten seconds: ${windows.map((window) => percentile(window, 0.5).toFixed(1)).join(', ')} ms`);
    return { limit: valuesOf(windows[0]), measured: valuesOf(windows.at(-1)), problems };
  } finally {
    await service.end();
  }
}

/** Returns how long each event took, in the order of publication. */
function inOrder(sent, arrivals) {
  const arrivedAt = new Map(arrivals.map(({ eventId, at }) => [eventId, at]));
  return sent.map(({ eventId, intendedAt }) => arrivedAt.get(eventId) - intendedAt);
}

const valuesOf = (tookMs) => ({ p50: percentile(tookMs, 0.5), p99: percentile(tookMs, 0.99) });

/** Disables autovacuum for all tables of the service and the partitions of today. */
export async function neverVacuum(service) {
  const tables = await service.query(
    `select c.oid::regclass::text as name from pg_class c
     where c.relnamespace = 'webhook_service'::regnamespace and c.relkind = 'r'`,
  );
  for (const { name } of tables) await service.query(`alter table ${name} set (autovacuum_enabled = off)`);
}
