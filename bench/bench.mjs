// `npm run bench`: measures the service, each figure with its limit on the same machine in the same minute.
// docs/performance.md explains the figures. BENCH=full adds the long workloads, BENCH=<name,…> selects some,
// BENCH_SCALE=0.1 reduces counts for a quick run, BENCH_POSTGRES=ordinary uses a PostgreSQL with its own defaults,
// BENCH_AGAINST=file compares with the results of another run. Exit code 1 means that a run was wrong, never that it
// was slow.
import { accepting } from './workloads/accepting.workload.mjs';
import { backlog } from './workloads/backlog.workload.mjs';
import { deferred } from './workloads/deferred.workload.mjs';
import { dropping } from './workloads/dropping.workload.mjs';
import { filtering } from './workloads/filtering.workload.mjs';
import { freshDay } from './workloads/fresh-day.workload.mjs';
import { idle } from './workloads/idle.workload.mjs';
import { latency } from './workloads/latency.workload.mjs';
import { logPage, longLogPage } from './workloads/log-page.workload.mjs';
import { memory } from './workloads/memory.workload.mjs';
import { noisyNeighbour } from './workloads/noisy-neighbour.workload.mjs';
import { publishing } from './workloads/publishing.workload.mjs';
import { processes } from './workloads/processes.workload.mjs';
import { rateLimited } from './workloads/rate-limited.workload.mjs';
import { Remote } from './processes/remote.mjs';
import { machine, printChanges, printTable, readResults, RESULTS_FILE, summarise, writeResults } from './report.mjs';
import { slowReceiver } from './workloads/slow-receiver.workload.mjs';
import { Stores } from './processes/stores.mjs';
import { throughput } from './workloads/throughput.workload.mjs';

const SHORT = {
  throughput,
  accepting,
  latency,
  'noisy-neighbour': noisyNeighbour,
  'log-page': logPage,
  publishing,
  filtering,
  memory,
};
const LONG = {
  'fresh-day': freshDay,
  'slow-receiver': slowReceiver,
  deferred,
  'rate-limited': rateLimited,
  idle,
  backlog,
  'long-log-page': longLogPage,
  dropping,
  processes,
};
const ALL = { ...SHORT, ...LONG };

const startedAt = performance.now();
const cleanUps = [];
let ending;

function chosen(names = '') {
  if (names === '') return SHORT;
  if (names === 'full') return ALL;
  const wanted = names.split(',').map((name) => name.trim());
  const unknown = wanted.filter((name) => !(name in ALL));
  if (unknown.length === 0) return Object.fromEntries(wanted.map((name) => [name, ALL[name]]));
  throw new Error(
    `BENCH names no workload "${unknown.join('", "')}": it is full, or some of ${Object.keys(ALL).join()}.`,
  );
}

function scaleOf(text = '1') {
  const scale = Number(text);
  if (scale > 0 && scale <= 1) return scale;
  throw new Error('BENCH_SCALE is a number above 0, at most 1.');
}

function say(line) {
  // From here on, running work only fails because its stores are gone.
  if (ending) return;
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  process.stdout.write(`${String(seconds).padStart(5)} s  ${line}\n`);
}

async function prepare(scale) {
  const stores = new Stores();
  cleanUps.push(() => stores.stop());
  await stores.start();
  if (!stores.queues.includes('redis')) say('SKIPPED: everything on Redis, because this machine has no redis-server.');
  const [receiver, load] = [new Remote('receiver.process.mjs'), new Remote('load.process.mjs')];
  cleanUps.push(() => Promise.all([receiver.kill(), load.kill()]));
  return {
    stores,
    receiver,
    load,
    receiverUrl: await receiver.ask('url'),
    figures: [],
    say,
    scaled: (count) => Math.max(1, Math.round(count * scale)),
    cleanUp: (undo) => cleanUps.push(undo),
  };
}

async function runAll(bench, workloads) {
  const broken = [];
  for (const [name, workload] of Object.entries(workloads)) {
    say(`--- ${name}`);
    await workload(bench).catch((error) => {
      broken.push({ workload: name, error: String(error.stack ?? error) });
      say(`INVALID: ${name} broke off: ${error.stack ?? error}`);
    });
  }
  return broken;
}

async function main() {
  const [workloads, scale] = [chosen(process.env.BENCH), scaleOf(process.env.BENCH_SCALE)];
  const against = readResults(process.env.BENCH_AGAINST);
  const on = machine();
  say(
    `${on.cores} cores of ${on.cpu}, load average ${on.loadAverage.toFixed(2)}, Node ${on.node}; LOG_LEVEL=warn, rate limits off, fsync on`,
  );
  const bench = await prepare(scale);
  const broken = await runAll(bench, workloads);
  if (ending) return 1;
  const rows = bench.figures.flatMap(summarise);
  process.stdout.write('\n');
  printTable(rows);
  if (against) printChanges(rows, against);
  const { figures } = bench;
  writeResults({ measuredAt: new Date().toISOString(), machine: on, scale, rows, figures, broken });
  const invalid = rows.filter(({ isValid }) => !isValid).length + broken.length;
  process.stdout.write(
    `\nWritten to ${RESULTS_FILE}. ${invalid === 0 ? 'Every run was right.' : `INVALID: ${invalid}.`}\n`,
  );
  if (scale < 1) process.stdout.write('BENCH_SCALE is below 1: these figures show that it runs, not how fast.\n');
  return invalid === 0 ? 0 : 1;
}

/** Ends everything that was started, newest first; a failure does not stop the rest. */
function end(exitCode) {
  return (ending ??= endOnce(exitCode));
}

async function endOnce(exitCode) {
  for (let undo = cleanUps.pop(); undo; undo = cleanUps.pop()) await Promise.resolve().then(undo).catch(complain);
  process.exit(exitCode);
}

function complain(error) {
  process.stderr.write(`${error.stack ?? error}\n`);
  return 1;
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void end(1));
process.once('uncaughtException', (error) => void end(complain(error)));

void main().catch(complain).then(end);
