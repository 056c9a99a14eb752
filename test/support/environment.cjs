// The environment of all tests. It fails a file that leaves something behind which keeps its worker from ending, and it runs
// the built service of `useService` in the process of the test, but outside of jest's sandbox: a worker loads the service
// once instead of starting a process for each file.
const { join, resolve } = require('node:path');
const { TestEnvironment } = require('jest-environment-node');

/** What keeps a worker alive once its tests are done, apart from the pipes to jest. */
const LEAKS = /^(TCP|TLS|UDP|Process|FSEvent|StatWatcher|Worker|Timeout|Immediate|HTTP)/;

// A worker ends with jest, however that ends. A listener of `disconnect` keeps the worker alive, so that it has to go with
// jest's own listener, which jest takes away when all tests are done.
const end = () => process.exit(1);
process.once('disconnect', end);
process.on('removeListener', (event) => event === 'message' && process.off('disconnect', end));

let built;
/** The modules of the built service, which this process loads once. */
function service() {
  const load = (file) => require(join(resolve(process.env.SERVICE_DIST ?? 'dist'), 'src', file));
  built ??= {
    ...load('infrastructure/config/settings.js'),
    ...load('infrastructure/http/logger.service.js'),
    ...load('service.setup.js'),
  };
  return built;
}

/**
 * Starts the service with these settings.
 * @param onLog called with each line of its log
 * @returns its url, and `stop`, which drains and closes it
 */
async function startInProcess(settings, onLog) {
  const { parseConfig, startService, logDestination } = service();
  logDestination.write = onLog;
  return startService(parseConfig(settings));
}

module.exports = class Environment extends TestEnvironment {
  #before = [];

  async setup() {
    await super.setup();
    this.#before = process.getActiveResourcesInfo();
    this.global.startInProcess = startInProcess;
  }

  /** Fails the file that leaves something behind which would keep its worker from ending. */
  async teardown() {
    await super.teardown();
    const left = await this.#settled();
    if (left.length > 0) throw new Error(`The file leaves behind what keeps its process alive: ${left.join(', ')}`);
  }

  /** What the file has opened and not closed. A socket that was destroyed is gone a moment later. */
  async #settled() {
    for (let look = 1; ; look++) {
      const left = process.getActiveResourcesInfo().filter((name) => LEAKS.test(name));
      for (const name of this.#before) {
        const at = left.indexOf(name);
        if (at >= 0) left.splice(at, 1);
      }
      if (left.length === 0 || look === 1000) return left;
      await new Promise((done) => setTimeout(done, 10).unref());
    }
  }
};
