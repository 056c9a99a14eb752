// A receiver that returns 200 after 2.2 or 5 s, with 40 events a second: deliveries per second without other load,
// compared with the maximum for the attempts that may be in flight to one webhook; and its effect on 1,000 a second to
// a fast webhook, compared with the effect of a receiver that never responds.
import { createAudience, Service } from '../processes/services.mjs';
import { alternate, repeat } from '../rounds.mjs';
import { deliverWithNeighbour } from './noisy-neighbour.workload.mjs';

const RATE = 40;
const SECONDS = 40;
const WEBHOOK_CONCURRENCY = 100;
/** From the first response on. */
const RAMP_MS = 8000;
const FAST_RATE = 1000;
const FAST_SECONDS = 10;

export async function slowReceiver(bench) {
  for (const queue of bench.stores.queues) {
    for (const delayMs of [2200, 5000]) {
      await repeat(bench, {
        title: `delivered to a receiver that answers after ${delayMs} ms, ${queue}`,
        unit: 'deliveries/s',
        run: () => deliverSlowly(bench, queue, delayMs),
      });
    }
    const fast = { rate: FAST_RATE, count: bench.scaled(FAST_RATE * FAST_SECONDS) };
    const slow = { rate: RATE, count: bench.scaled(RATE * FAST_SECONDS) };
    await alternate(bench, {
      title: `publish → received at ${FAST_RATE}/s beside a receiver that answers after 2200 ms, ${queue}`,
      unit: 'ms',
      limit: () => deliverWithNeighbour(bench, queue, fast, { answers: false }, slow),
      measure: () => deliverWithNeighbour(bench, queue, fast, { prefix: 'after-2200/' }, slow),
    });
  }
}

async function deliverSlowly(bench, queue, delayMs) {
  const service = await Service.start(bench, queue);
  try {
    const prefix = `after-${delayMs}/`;
    const audience = await createAudience(bench, service, { user: 'slow', webhooks: 1, prefix });
    const count = bench.scaled(RATE * SECONDS);
    const sent = await bench.load.ask('publishAtRate', { url: service.url, token: audience.token, rate: RATE, count });
    const { arrivals } = await bench.receiver.ask('report', { group: audience.group });
    const from = sent[0].intendedAt + RAMP_MS;
    const until = sent.at(-1).intendedAt;
    const arrived = arrivals.filter(({ at }) => at >= from && at < until).length;
    const allowed = Math.min(RATE, (WEBHOOK_CONCURRENCY * 1000) / delayMs);
    return { limit: { value: allowed }, measured: { value: (arrived * 1000) / (until - from) }, problems: [] };
  } finally {
    await service.end();
  }
}
