// The receiver of all deliveries. It answers 200 at once and remembers what came, by group: the first part of the path.
// What is sent to /never/… gets no answer at all, and what is sent to /after-2200/… one after 2.2 s.
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

/** Reads the body in any case; of every so manieth request it is kept, for its signatures to be verified. */
function keepSample({ arrivals, samples }, request) {
  const isSampled = arrivals.length % SAMPLE_EVERY === 1 && samples.length < MAX_SAMPLES;
  if (!isSampled) return void request.resume();
  const sample = { path: request.url, headers: request.headers, body: '' };
  samples.push(sample);
  request.setEncoding('utf8').on('data', (text) => (sample.body += text));
}

/** Waits until the group has that many requests, or the time is up. */
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
  /** Everything that came for the group so far. */
  report: ({ group }) => {
    const { arrivals, samples } = groupOf(group);
    return { arrivals, samples };
  },
});
