// Loaded into a service under test by NODE_OPTIONS: tells on PROBE_PORT how it fares. It needs --expose-gc.
const { createServer } = require('node:http');
const { monitorEventLoopDelay } = require('node:perf_hooks');

const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();

createServer((_request, response) => {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  response.end(
    JSON.stringify({ usedBytes: heapUsed + external, eventLoopP99Ms: Math.round(delay.percentile(99) / 1e6) }),
  );
  delay.reset();
}).listen(Number(process.env.PROBE_PORT), '127.0.0.1', function () {
  this.unref();
});
