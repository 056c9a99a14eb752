// POST /api/events in a process that serves only the API, without subscribers, compared with an empty Nest and Fastify
// route that validates the same body.
import autocannon from 'autocannon';
import { dataOf, EVENT } from '../payload.mjs';
import { now, Remote } from '../processes/remote.mjs';
import { alternate } from '../rounds.mjs';
import { createAudience, Service } from '../processes/services.mjs';

const REQUESTS = 20_000;
const CONNECTIONS = 64;
const WARM_UP_SHARE = 0.1;

export async function accepting(bench) {
  const empty = new Remote('empty-route.process.mjs');
  bench.cleanUp(() => empty.kill());
  const emptyUrl = await empty.ask('url');
  const amount = bench.scaled(REQUESTS);
  await post(emptyUrl, '', amount * WARM_UP_SHARE);
  for (const queue of bench.stores.queues) {
    const service = await Service.start(bench, queue, { ROLE: 'api' });
    const { token } = await createAudience(bench, service, { user: 'publisher', webhooks: 0 });
    await post(service.url, token, amount * WARM_UP_SHARE);
    await alternate(bench, {
      title: `accepted by POST /api/events, ${queue}`,
      unit: 'requests/s',
      limit: () => post(emptyUrl, '', amount),
      measure: () => accept(service, token, amount),
    });
    await service.end();
  }
  await empty.kill();
}

/** The database contains exactly the events that were accepted with 202. */
async function accept(service, token, amount) {
  const before = await countEvents(service);
  const { values, problems } = await post(service.url, token, amount);
  const rows = (await countEvents(service)) - before;
  return { values, problems: [...problems, ...(rows === amount ? [] : [`${rows} events are stored, not ${amount}`])] };
}

async function countEvents(service) {
  const [{ count }] = await service.query('select count(*)::int as count from webhook_service.events');
  return count;
}

async function post(url, token, wanted) {
  const amount = Math.ceil(wanted);
  const startedAt = now();
  let lastAt = startedAt;
  const run = autocannon({
    url: `${url}/api/events`,
    method: 'POST',
    amount,
    connections: Math.min(CONNECTIONS, amount),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ event: EVENT, data: dataOf(1) }),
  });
  // Its own times are rounded up to its next sample, up to a second later.
  run.on('response', () => (lastAt = now()));
  const { '2xx': good } = await run;
  const problems = good === amount ? [] : [`${good} of ${amount} requests were accepted`];
  return { values: { value: (good * 1000) / (lastAt - startedAt) }, problems };
}
