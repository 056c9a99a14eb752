// A receiver that answers 200 after 2.2 or 5 s, with 40 events a second and nothing else to do: delivered a second, beside
// what the attempts that may be in flight to one webhook allow.
import { createAudience, Service } from '../processes/services.mjs';
import { repeat } from '../rounds.mjs';

const RATE = 40;
const SECONDS = 40;
const WEBHOOK_CONCURRENCY = 100;
/** From the first answer on. */
const RAMP_MS = 8000;

export async function slowReceiver(bench) {
  for (const queue of bench.stores.queues) {
    for (const delayMs of [2200, 5000]) {
      await repeat(bench, {
        title: `delivered to a receiver that answers after ${delayMs} ms, ${queue}`,
        unit: 'deliveries/s',
        run: () => deliverSlowly(bench, queue, delayMs),
      });
    }
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
