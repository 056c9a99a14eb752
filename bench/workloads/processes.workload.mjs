// Two and four processes on the same stores, compared with one.
import { alternate } from '../rounds.mjs';
import { createAudience, Service, warmUp } from '../processes/services.mjs';
import { deliver, publishOverHttp, UNITS } from './throughput.workload.mjs';

const DELIVERIES = 20_000;
const WEBHOOKS = 100;

export async function processes(bench) {
  for (const queue of bench.stores.queues) {
    for (const count of [2, 4]) {
      await alternate(bench, {
        title: `${count} processes beside one, ${queue}`,
        ...UNITS,
        limit: () => together(bench, queue, 1),
        measure: () => together(bench, queue, count),
      });
    }
  }
}

async function together(bench, queue, processCount) {
  const service = await Service.start(bench, queue);
  try {
    for (let i = 1; i < processCount; i++) await service.addProcess();
    await warmUp(bench, service);
    const audience = await createAudience(bench, service, { user: 'all', webhooks: WEBHOOKS });
    const events = Math.ceil(bench.scaled(DELIVERIES) / WEBHOOKS);
    return await deliver(bench, service, audience, () => publishOverHttp(bench, service, audience.token, events));
  } finally {
    await service.end();
  }
}
