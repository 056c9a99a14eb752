// 200,000 deliveries are pending when the worker starts: its throughput, compared with a worker whose queue was empty.
import { alternate } from '../rounds.mjs';
import { createAudience, Service } from '../processes/services.mjs';
import { deliver, publishOverHttp, UNITS } from './throughput.workload.mjs';

const OWED = 200_000;
const FEW = 10_000;
const WEBHOOKS = 100;
const ALL_WITHIN_MS = 900_000;

export async function backlog(bench) {
  const [queue] = bench.stores.queues;
  await alternate(bench, {
    title: `working off ${bench.scaled(OWED)} pending deliveries, ${queue}`,
    ...UNITS,
    limit: () => workOff(bench, queue, bench.scaled(FEW)),
    measure: () => workOff(bench, queue, bench.scaled(OWED)),
  });
}

async function workOff(bench, queue, deliveries) {
  const service = await Service.start(bench, queue, { ROLE: 'api' });
  try {
    const audience = await createAudience(bench, service, { user: 'owed', webhooks: WEBHOOKS });
    const events = Math.ceil(deliveries / WEBHOOKS);
    const { eventIds } = await publishOverHttp(bench, service, audience.token, events);
    const startWorker = async () => {
      const worker = await service.addProcess({ ROLE: 'worker' });
      return { startedAt: await worker.ask('startedAt'), eventIds };
    };
    return await deliver(bench, service, audience, startWorker, ALL_WITHIN_MS);
  } finally {
    await service.end();
  }
}
