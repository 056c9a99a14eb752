// Selects the tests of a run by the milliseconds of each file in test/times.json, which `npm run test:times` measures.
// `npm test` (TESTS=quick) runs the files that take least, up to a budget, with queues on PostgreSQL; `npm run test:all`
// (TESTS=rest) runs the other files but for some, and those of the first run again, with queues on Redis. With LONG=1 all other
// files run, on both stores, as they do without TESTS.
const { readFileSync } = require('node:fs');
const { dirname, join, relative, sep } = require('node:path');

const ROOT = dirname(require.resolve('../../package.json'));
/** The sum of the files that `npm test` runs. They take a third of it or less: three workers, and no slow files beside them. */
const BUDGET_MS = 310_000;
/** What a file takes that nobody has measured yet. */
const NEW_FILE_MS = 5000;

/** Files that run with LONG=1 only: they take long, and what they look at rarely breaks alone. */
const LONG_ONLY = new Set([
  'test/e2e/docs/two-commands.spec.ts',
  'test/browser/embedding.spec.ts',
  'test/e2e/deploy/compose.spec.ts',
  'test/e2e/erasures/erasure-in-a-fleet.spec.ts',
  'test/e2e/erasures/erasure-of-many-rows.spec.ts',
  'test/e2e/infrastructure/metrics-outages.spec.ts',
  'test/e2e/infrastructure/spans.spec.ts',
  'test/e2e/package/import-svix-refusals.spec.ts',
  'test/e2e/package/killed-application.spec.ts',
  'test/e2e/package/nest-matrix.spec.ts',
  'test/e2e/service/at-rest.spec.ts',
  'test/e2e/service/machine-outages.spec.ts',
  'test/e2e/service/old-generation.spec.ts',
  'test/e2e/sources/job-events-faults.spec.ts',
  'test/faults/chaos-on-postgresql.spec.ts',
  'test/faults/freed-memory.spec.ts',
  'test/integration/docs/demo.spec.ts',
  'test/integration/embedded-postgres/one-server.spec.ts',
]);

const times = JSON.parse(readFileSync(join(ROOT, 'test/times.json'), 'utf8'));
const nameOf = (path) => relative(ROOT, path).split(sep).join('/');
const slow = slowFiles(times, Number(process.env.TEST_BUDGET_MS ?? BUDGET_MS));

/** Returns the names of the files that do not fit into the budget when those that take least come first. */
function slowFiles(all, budget) {
  let sum = 0;
  const byTime = Object.entries(all).sort(([, a], [, b]) => a - b);
  return new Set(byTime.filter(([, milliseconds]) => (sum += milliseconds) > budget).map(([name]) => name));
}

const isLong = process.env.LONG === '1';
const isQuick = (path) => !path.includes('.long.') && !slow.has(nameOf(path));
const isOnStores = (path) => readFileSync(path, 'utf8').includes('describeOnStores(');

/** The `filter` of jest: returns the paths that run. */
module.exports = (paths) => ({
  filtered: paths.filter(
    process.env.TESTS === 'rest'
      ? (path) => (isLong || !LONG_ONLY.has(nameOf(path))) && (!isQuick(path) || isOnStores(path))
      : (path) => isQuick(path),
  ),
});

/** The stores that the tests of a file run on in this run. */
module.exports.storesOf = (path) => {
  if (process.env.TESTS === 'quick') return ['PostgreSQL'];
  const isOnOne = process.env.TESTS === 'rest' && (isQuick(path) || !isLong);
  return isOnOne ? ['Redis'] : ['PostgreSQL', 'Redis'];
};

/** How long a file took on one store when the times were measured. */
module.exports.millisecondsOf = (path) => times[nameOf(path)] ?? NEW_FILE_MS;
module.exports.nameOf = nameOf;
module.exports.slowFiles = slowFiles;
