// Selects the tests of a run. `npm test` (TESTS=first) runs what most changes break, in five minutes: no long file, and
// one store. `npm run test:all` (TESTS=rest) runs the long files, and the rest on the other store but for what
// `npm run test:ordinary` runs on both. Without TESTS: all.
const { readFileSync } = require('node:fs');

/** Files that start machines, browsers or packages, or fill logs. */
const LONG = new RegExp(
  [
    '/test/(browser|faults)/',
    '/test/e2e/(deploy|package|service)/',
    '/test/integration/embedded-postgres/',
    '/test/integration/docs/(build|bench|demo)\\.',
    '/(statement-costs|log-plans|recovery-pages|follower-readings|addresses)\\.',
    '/(schemathesis|openapi-requests|hostile-receivers|verifying-docs)\\.',
    '/(console-links|console-sessions|jwt|access-matrix|answer-headers|secrets-key|rekey|erasure-[a-z-]+|webhook-notices)\\.',
    '/(job-events-faults|metrics-outages|redis-cluster|redis-(acl|sentinel)|rate-limits|cluster-memory|read-only-database)\\.',
    '/(behind-a-proxy|squid|tls|private-certificates|pgbouncer|pooler|spans|changes|declared-in-document)\\.',
    '/test/e2e/(infrastructure/settings|sources/followers|deliveries/pulling/killed)\\.',
  ].join('|'),
);
const ORDINARY = /\/test\/(integration\/deliveries|e2e\/(events|deliveries))\//;

const isLong = (path) => LONG.test(path);

const isOnStores = (path) => readFileSync(path, 'utf8').includes('describeOnStores(');

/** The `filter` of jest: returns the paths that run. */
module.exports = (paths) => {
  const isRest = (path) => isLong(path) || (isOnStores(path) && !ORDINARY.test(path));
  return { filtered: paths.filter(process.env.TESTS === 'rest' ? isRest : (path) => !isLong(path)) };
};

/** Which stores the tests of a file run on: `first` for PostgreSQL, `rest` for Redis. */
module.exports.halves = (path) => (process.env.TESTS && !isLong(path) ? [process.env.TESTS] : ['first', 'rest']);
