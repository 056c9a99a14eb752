// The receiver of all deliveries. It returns 200 at once and records requests by group: the first part of the path.
// Requests to /never/… get no response at all, those to /after-2200/… one after 2.2 s.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { now, serve } from './remote.mjs';

const SAMPLE_EVERY = 101;
const MAX_SAMPLES = 200;

const groups = new Map();

const server = createServer((request, response) => {
  const { url = '', headers } = request;
  if (url.startsWith('/never/')) return void request.resume();
  const [, delay, path = url] = /^\/after-(\d+)(\/.*)$/.exec(url) ?? [];
  const group = groupOf(path.split('/', 2)[1]);
  group.arrivals.push({ eventId: headers['webhook-id'], path: url, at: now() });
  keepSample(group, request);
  request.once('end', () => {
    if (delay) setTimeout(() => response.writeHead(200).end(), Number(delay));
    else response.writeHead(200).end();
    if (group.arrivals.length >= group.awaited) group.onComplete();
  });
});

function groupOf(name) {
  if (!groups.has(name)) groups.set(name, { arrivals: [], samples: [], awaited: Infinity, onComplete: undefined });
  return groups.get(name);
}

/** Always reads the body; keeps a sample of the requests, to verify their signatures. */
function keepSample({ arrivals, samples }, request) {
  const isSampled = arrivals.length % SAMPLE_EVERY === 1 && samples.length < MAX_SAMPLES;
  if (!isSampled) return void request.resume();
  const sample = { path: request.url, headers: request.headers, body: '' };
  samples.push(sample);
  request.setEncoding('utf8').on('data', (text) => (sample.body += text));
}

/** Waits until the group has this many requests, or until the timeout. */
async function complete(name, count, timeoutMs) {
  const group = groupOf(name);
  if (group.arrivals.length >= count) return;
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, timeoutMs);
    group.awaited = count;
    group.onComplete = () => {
      clearTimeout(timer);
      resolve(undefined);
    };
  });
  group.awaited = Infinity;
}

server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());

serve({
  url: () => `http://127.0.0.1:${port}`,
  forget: ({ group }) => void groups.delete(group),
  complete: ({ group, count, timeoutMs }) => complete(group, count, timeoutMs),
  /** Returns everything that the group has received so far. */
  report: ({ group }) => {
    const { arrivals, samples } = groupOf(group);
    return { arrivals, samples };
  },
});
