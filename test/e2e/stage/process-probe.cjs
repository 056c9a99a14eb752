// Loaded into a service under test by NODE_OPTIONS: tells on PROBE_PORT how it fares. It needs --expose-gc.
const { createServer } = require('node:http');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { getHeapSpaceStatistics } = require('node:v8');

const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();

const oldBytes = () => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space').space_used_size;
let before = oldBytes();
let promotedBytes = 0;
// What is freed between two samples is not seen: this often, that is little.
setInterval(() => {
  const now = oldBytes();
  promotedBytes += Math.max(0, now - before);
  before = now;
}, 20).unref();

createServer(({ url }, response) => {
  if (url === '/promoted') return response.end(JSON.stringify({ promotedBytes }));
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  response.end(
    JSON.stringify({ usedBytes: heapUsed + external, eventLoopP99Ms: Math.round(delay.percentile(99) / 1e6) }),
  );
  delay.reset();
}).listen(Number(process.env.PROBE_PORT), '127.0.0.1', function () {
  this.unref();
});
