// Generates load from outside the service: publishes over HTTP, or runs the raw loop that is the limit, which signs and
// posts to the receiver without queue and database.
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import { closedLoop, openLoop } from '../loops.mjs';
import { dataOf, EVENT } from '../payload.mjs';
import { now, serve } from './remote.mjs';
import { signedHeaders } from '../signatures.mjs';

const dispatcher = new Agent({ connections: 300, pipelining: 1 });

async function publish({ url, token }, i) {
  const { statusCode, body } = await request(`${url}/api/events`, {
    dispatcher,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ event: EVENT, data: dataOf(i) }),
  });
  const answer = /** @type {import('./services.mjs').Envelope} */ (await body.json());
  if (statusCode !== 202) throw new Error(`Publishing was answered with ${statusCode}: ${answer.error}`);
  return answer.data.id;
}

async function post({ url, paths, secret }, i) {
  const eventId = randomUUID();
  const text = JSON.stringify({ id: eventId, event: EVENT, createdAt: new Date().toISOString(), data: dataOf(i) });
  const { statusCode, body } = await request(url + paths[i % paths.length], {
    dispatcher,
    method: 'POST',
    headers: signedHeaders({ body: text, secret, event: EVENT, eventId, deliveryId: randomUUID() }),
    body: text,
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`The receiver answered ${statusCode}.`);
  return eventId;
}

/** As many as possible: returns when it began, and the ids of the events. */
const asMany = (send) => async (to) => {
  const startedAt = now();
  return { startedAt, eventIds: await closedLoop(to.count, to.concurrency, (i) => send(to, i)) };
};

/** At a fixed rate: returns the id of each event, when it should have been sent, and when its response arrived. */
const atRate = (send) => (to) =>
  openLoop(to.count, to.rate, async (i, intendedAt) => ({
    eventId: await send(to, i),
    intendedAt,
    answeredAt: now(),
  }));

serve({
  publish: asMany(publish),
  publishAtRate: atRate(publish),
  post: asMany(post),
  postAtRate: atRate(post),
});
