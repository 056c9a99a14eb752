// Resident memory of one service process at rest, and after an event was delivered to 10,000 webhooks; the limit is an
// empty Nest and Fastify application. PostgreSQL and Redis are separate processes and do not count.
import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { Remote } from '../processes/remote.mjs';
import { alternate } from '../rounds.mjs';
import { createAudience, Service } from '../processes/services.mjs';
import { deliver, publishOverHttp } from './throughput.workload.mjs';

const WEBHOOKS = 10_000;
const RESTS_MS = 3000;

export async function memory(bench) {
  const [queue] = bench.stores.queues;
  await alternate(bench, {
    title: `resident memory, ${queue}`,
    unit: 'MiB',
    limit: () => measureEmpty(bench),
    measure: () => measureService(bench, queue),
  });
}

async function measureEmpty(bench) {
  const empty = new Remote('empty-route.process.mjs');
  bench.cleanUp(() => empty.kill());
  await empty.ask('url');
  const mib = await residentMib(empty);
  await empty.kill();
  return { values: { 'at rest': mib, [withWebhooks(bench)]: mib }, problems: [] };
}

async function measureService(bench, queue) {
  const service = await Service.start(bench, queue);
  try {
    const atRest = await residentMib(service.first);
    const audience = await createAudience(bench, service, { user: 'many', webhooks: bench.scaled(WEBHOOKS) });
    const publish = () => publishOverHttp(bench, service, audience.token, 1);
    const { problems } = await deliver(bench, service, audience, publish);
    return { values: { 'at rest': atRest, [withWebhooks(bench)]: await residentMib(service.first) }, problems };
  } finally {
    await service.end();
  }
}

const withWebhooks = (bench) => `with ${bench.scaled(WEBHOOKS)} webhooks`;

async function residentMib({ pid }) {
  await pause(RESTS_MS);
  const kib = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }));
  return kib / 1024;
}
