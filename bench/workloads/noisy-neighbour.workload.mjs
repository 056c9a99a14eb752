// A healthy webhook while another user's webhook, with as much traffic, never responds; the limit is the healthy one
// alone. The processes of each run are discarded: they would be busy with the silent webhook for a long time.
import { deliverAtRate } from './latency.workload.mjs';
import { alternate } from '../rounds.mjs';
import { createAudience, Service, warmUp } from '../processes/services.mjs';

const RATE = 100;
const SECONDS = 6;
const ALL_WITHIN_MS = 60_000;

export async function noisyNeighbour(bench) {
  const [queue] = bench.stores.queues;
  const load = { rate: RATE, count: bench.scaled(RATE * SECONDS) };
  await alternate(bench, {
    title: `publish → received at ${RATE}/s beside a silent webhook, ${queue}`,
    unit: 'ms',
    limit: () => withService(bench, queue, (service, healthy) => deliverTo(bench, service, healthy, load)),
    measure: () => deliverWithNeighbour(bench, queue, load, { answers: false }, load),
  });
}

/** Measures the latencies of a healthy webhook of a new service while a webhook of another user has its own load. */
export function deliverWithNeighbour(bench, queue, load, neighbour, neighboursLoad) {
  return withService(bench, queue, async (service, healthy) => {
    const other = await createAudience(bench, service, { user: 'neighbour', webhooks: 1, ...neighbour });
    const [measured, succeeded] = await Promise.all([
      deliverTo(bench, service, healthy, load),
      annoy(bench, service, other, neighboursLoad),
    ]);
    const isWrong = neighbour.answers === false && succeeded > 0;
    const problems = isWrong ? [`${succeeded} deliveries to the silent webhook succeeded`] : [];
    return { ...measured, problems: [...measured.problems, ...problems] };
  });
}

async function withService(bench, queue, run) {
  const service = await Service.start(bench, queue);
  try {
    await warmUp(bench, service);
    return await run(service, await createAudience(bench, service, { user: 'healthy', webhooks: 1 }));
  } finally {
    await service.end();
  }
}

const deliverTo = (bench, service, healthy, load) => deliverAtRate(bench, service, healthy, load, ALL_WITHIN_MS);

/** Publishes for the other webhook too, and returns how many of its deliveries succeeded. */
async function annoy(bench, service, { token, webhookIds }, load) {
  await bench.load.ask('publishAtRate', { url: service.url, token, ...load });
  const [{ succeeded }] = await service.query(
    `select count(*)::int as succeeded from webhook_service.deliveries
     where webhook_id = any($1::uuid[]) and status = 'succeeded'`,
    [webhookIds],
  );
  return succeeded;
}
