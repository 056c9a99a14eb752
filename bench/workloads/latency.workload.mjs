// Publish → received at a fixed rate, from the time at which an event should have been published over HTTP to its
// arrival, compared with the raw loop at the same rate.
import { alternate } from '../rounds.mjs';
import { createAudience, Service, warmUp } from '../processes/services.mjs';
import { percentile } from '../statistics.mjs';
import { logProblems, receivedProblems } from '../verdict.mjs';

const RATES = [50, 200, 500, 1000];
const SECONDS = 3;
const ALL_WITHIN_MS = 60_000;

export async function latency(bench) {
  for (const queue of bench.stores.queues) {
    const service = await Service.start(bench, queue);
    await warmUp(bench, service);
    const audience = await createAudience(bench, service, { user: 'latency', webhooks: 1 });
    for (const rate of RATES) {
      const count = bench.scaled(rate * SECONDS);
      await alternate(bench, {
        title: `publish → received at ${rate}/s, ${queue}`,
        unit: 'ms',
        limit: () => rawAtRate(bench, audience, { rate, count }),
        measure: () => deliverAtRate(bench, service, audience, { rate, count }),
      });
    }
    await service.end();
  }
}

async function rawAtRate(bench, { secret }, load) {
  const [group, paths] = ['raw', ['/raw/0']];
  await bench.receiver.ask('forget', { group });
  const sent = await bench.load.ask('postAtRate', { url: bench.receiverUrl, paths, secret, ...load });
  return evaluate(await bench.receiver.ask('report', { group }), sent, { paths, secret });
}

/** Measures the latencies of one audience at a fixed rate, and checks that everything is correct. */
export async function deliverAtRate(bench, service, audience, load, timeoutMs = ALL_WITHIN_MS) {
  const { group, token, paths } = audience;
  await bench.receiver.ask('forget', { group });
  const sent = await bench.load.ask('publishAtRate', { url: service.url, token, ...load });
  await bench.receiver.ask('complete', { group, count: sent.length * paths.length, timeoutMs });
  const eventIds = sent.map(({ eventId }) => eventId);
  const log = await logProblems(service, { ...audience, eventIds });
  const { values, problems } = evaluate(await bench.receiver.ask('report', { group }), sent, audience);
  return { values, problems: [...problems, ...log] };
}

function evaluate(report, sent, { paths, secret }) {
  const intendedAt = new Map(sent.map((event) => [event.eventId, event.intendedAt]));
  const tookMs = report.arrivals.map(({ eventId, at }) => at - intendedAt.get(eventId));
  return {
    values: { p50: percentile(tookMs, 0.5), p99: percentile(tookMs, 0.99) },
    problems: receivedProblems(report, { eventIds: [...intendedAt.keys()], paths, secret }),
  };
}
