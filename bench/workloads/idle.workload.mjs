// Processor time of a service with nothing to do, and of its PostgreSQL, as a share of one core; the limit is the bar.
import { setTimeout as pause } from 'node:timers/promises';
import { canMeasureCpu } from '../processes/cpu.mjs';
import { createAudience, Service, warmUp } from '../processes/services.mjs';
import { repeat } from '../rounds.mjs';

const RESTS_MS = 15_000;
const MEASURED_MS = 30_000;
const BAR_PERCENT = 1;

export async function idle(bench) {
  if (!canMeasureCpu) return;
  for (const queue of bench.stores.queues) {
    await repeat(bench, { title: `processor time at rest, ${queue}`, unit: '%', run: () => rest(bench, queue) });
  }
}

async function rest(bench, queue) {
  const service = await Service.start(bench, queue);
  try {
    await warmUp(bench, service);
    await createAudience(bench, service, { user: 'resting', webhooks: 1 });
    await pause(RESTS_MS);
    const before = await service.cpuMs();
    await pause(MEASURED_MS);
    const percent = (((await service.cpuMs()) - before) * 100) / MEASURED_MS;
    return { limit: { value: BAR_PERCENT }, measured: { value: percent }, problems: [] };
  } finally {
    await service.end();
  }
}
