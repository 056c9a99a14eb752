// Publish → received, and → recorded, at maximum throughput, and the processor time of a delivery, compared with the
// raw loop: signing and posting the same bodies to the same receiver with the same concurrency, without queue and
// database.
import { canMeasureCpu, treeCpuMs } from '../processes/cpu.mjs';
import { alternate } from '../rounds.mjs';
import { createAudience, Service, warmUp } from '../processes/services.mjs';
import { logProblems, receivedProblems } from '../verdict.mjs';

/** The default of DELIVERY_CONCURRENCY. */
export const CONCURRENCY = 300;
/** Units of the figures that `deliver` measures. */
export const UNITS = { unit: 'deliveries/s', units: { 'processor time': 'ms' } };
const PUBLISHERS = 100;
const DELIVERIES = { redis: 10_000, postgres: 4_000 };
const ALL_WITHIN_MS = 120_000;

export async function throughput(bench) {
  for (const queue of bench.stores.queues) {
    const service = await Service.start(bench, queue);
    await warmUp(bench, service);
    for (const webhooks of [1, 100]) {
      const audience = await createAudience(bench, service, { user: `fan-out-${webhooks}`, webhooks });
      const count = Math.ceil(bench.scaled(DELIVERIES[queue]) / webhooks);
      for (const [door, publish] of Object.entries(doors(bench, service, audience))) {
        await alternate(bench, {
          title: `${queue}, fan-out ${webhooks}, published ${door}`,
          ...UNITS,
          limit: () => rawLoop(bench, audience, count * webhooks),
          measure: () => deliver(bench, service, audience, () => publish(count)),
        });
      }
    }
    await service.end();
  }
}

const doors = (bench, service, { user, token }) => ({
  'in process': (count) => service.first.ask('publish', { count, concurrency: PUBLISHERS, user }),
  'over HTTP': (count) => publishOverHttp(bench, service, token, count),
});

export function publishOverHttp(bench, { url }, token, count) {
  return bench.load.ask('publish', { url, token, count, concurrency: PUBLISHERS });
}

/** Requests a second of the raw loop, from its start to the last arrival. */
export async function rawLoop(bench, { paths, secret }, count) {
  const group = 'raw';
  await bench.receiver.ask('forget', { group });
  const rawPaths = paths.map((_, i) => `/${group}/${i}`);
  const to = { url: bench.receiverUrl, paths: rawPaths, secret, count, concurrency: CONCURRENCY };
  const cpuEach = await cpuFrom(async () => treeCpuMs(bench.load.pid));
  const { startedAt, eventIds } = await bench.load.ask('post', to);
  const report = await bench.receiver.ask('report', { group });
  // Each event of the raw loop is one request to one path.
  const problems = receivedProblems(
    { ...report, arrivals: report.arrivals.map(({ eventId }) => ({ eventId, path: '' })) },
    { eventIds, paths: [''], secret },
  );
  const rate = perSecond(report.arrivals, startedAt);
  return { values: { received: rate, recorded: rate, ...(await cpuEach(count)) }, problems };
}

/**
 * Deliveries a second, from the first publish to the last arrival, and to the last outcome written; the processor time
 * of the service and its stores for each; and whether all of it is correct.
 */
export async function deliver(bench, service, audience, publish, timeoutMs = ALL_WITHIN_MS) {
  const { group, paths } = audience;
  await bench.receiver.ask('forget', { group });
  const cpuEach = await cpuFrom(() => service.cpuMs());
  const { startedAt, eventIds } = await publish();
  await bench.receiver.ask('complete', { group, count: eventIds.length * paths.length, timeoutMs });
  const log = await logProblems(service, { ...audience, eventIds });
  const report = await bench.receiver.ask('report', { group });
  const problems = [...receivedProblems(report, { ...audience, eventIds }), ...log];
  const [{ at }] = await service.query(RECORDED_AT, [eventIds]);
  const values = {
    received: perSecond(report.arrivals, startedAt),
    recorded: (report.arrivals.length * 1000) / (at - startedAt),
    ...(await cpuEach(report.arrivals.length)),
  };
  return { values, problems };
}

/** PostgreSQL and this process have the same clock. */
const RECORDED_AT = `
  select extract(epoch from max(completed_at))::float8 * 1000 as at
  from webhook_service.deliveries where event_id = any($1::uuid[])`;

/** Starts measuring; returns a function that returns the processor time for each of this many deliveries. */
async function cpuFrom(read) {
  if (!canMeasureCpu) return async () => ({});
  const before = await read();
  return async (count) => ({ 'processor time': ((await read()) - before) / count });
}

function perSecond(arrivals, startedAt) {
  const lastAt = arrivals.at(-1)?.at ?? Infinity;
  return (arrivals.length * 1000) / (lastAt - startedAt);
}
