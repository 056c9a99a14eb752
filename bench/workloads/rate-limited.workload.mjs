// A healthy webhook while 1,000 deliveries to another user's webhook wait for its rate of one in two seconds; the limit is the
// healthy one alone.
import { deliverAtRate } from './latency.workload.mjs';
import { alternate } from '../rounds.mjs';
import { createAudience, Service, warmUp } from '../processes/services.mjs';

const RATE = 100;
const SECONDS = 10;
const WAITING = 1000;

export async function rateLimited(bench) {
  for (const queue of bench.stores.queues) {
    const service = await Service.start(bench, queue);
    await warmUp(bench, service);
    const healthy = await createAudience(bench, service, { user: 'healthy', webhooks: 1 });
    const limited = await createAudience(bench, service, { user: 'limited', webhooks: 1 });
    const [id] = limited.webhookIds;
    const change = (fields) => service.call('PATCH', `/api/webhooks/${id}`, fields, limited.token);
    await alternate(bench, {
      title: `publish → received at ${RATE}/s while ${WAITING} others wait for a rate, ${queue}`,
      unit: 'ms',
      limit: () => deliverAtRate(bench, service, healthy, load(bench)),
      measure: async () => {
        await change({ maxPerSecond: 0.5, active: true });
        await bench.load.ask('publish', {
          ...{ url: service.url, token: limited.token, count: WAITING, concurrency: 50 },
        });
        const run = await deliverAtRate(bench, service, healthy, load(bench));
        const waiting = await waitingOf(service, id);
        // Cancels what waits.
        await change({ active: false });
        return waiting > WAITING / 2
          ? run
          : { ...run, problems: [...run.problems, `only ${waiting} deliveries waited`] };
      },
    });
    await service.end();
  }
}

const load = (bench) => ({ rate: RATE, count: bench.scaled(RATE * SECONDS) });

async function waitingOf(service, webhookId) {
  const [{ waiting }] = await service.query(
    `select count(*)::int as waiting from webhook_service.deliveries
     where webhook_id = $1 and status = 'pending' and leased_until = 'infinity'`,
    [webhookId],
  );
  return waiting;
}
