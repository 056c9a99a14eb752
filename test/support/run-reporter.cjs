// Says at the end of a run which tests were skipped for want of which program. Writes the counts of the run to the file in
// TEST_COUNTS, and with TEST_TIMES=write the milliseconds of each file to test/times.json.
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { stripVTControlCharacters } = require('node:util');
const { nameOf } = require('./selection.cjs');

const ROOT = dirname(require.resolve('../../package.json'));
const TIMES = join(ROOT, 'test/times.json');
/** Characters of a failure's message: enough to see which expectation failed, and where. */
const MAX_MESSAGE = 800;
/** What `describeWhereInstalled` adds to a title. */
const MISSING = /\(skipped: no ([^)]+)\)/;

module.exports = class RunReporter {
  #times = {};

  onTestFileResult({ path }, { perfStats }) {
    this.#times[nameOf(path)] = perfStats.end - perfStats.start;
  }

  onRunComplete(_contexts, results) {
    const tests = results.testResults.flatMap((suite) => suite.testResults);
    const skipped = tests.filter(({ status }) => status === 'pending' || status === 'skipped');
    const missing = countBy(skipped.map(({ fullName }) => MISSING.exec(fullName)?.[1] ?? ''));
    for (const [program, count] of Object.entries(missing)) {
      if (program) process.stderr.write(`Skipped: ${count} ${count === 1 ? 'test needs' : 'tests need'} ${program}.\n`);
    }
    if (process.env.TEST_TIMES === 'write') writeTimes(this.#times);
    if (process.env.TEST_COUNTS)
      writeFileSync(process.env.TEST_COUNTS, JSON.stringify(countsOf(results, tests, missing)));
  }
};

function countBy(names) {
  const counts = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** Replaces the times of the files that ran, and drops those of files that are gone. */
function writeTimes(measured) {
  const before = existsSync(TIMES) ? JSON.parse(readFileSync(TIMES, 'utf8')) : {};
  const entries = Object.entries({ ...before, ...measured })
    .filter(([name]) => existsSync(join(ROOT, name)))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(TIMES, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
}

function countsOf(results, tests, missing) {
  return {
    passed: results.numPassedTests,
    // A file that does not even load has no tests to count: it is one failure.
    failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
    skipped: results.numPendingTests + results.numTodoTests,
    failures: [
      ...tests
        .filter(({ status }) => status === 'failed')
        .map(
          ({ fullName, failureMessages }) =>
            `${fullName}: ${stripVTControlCharacters(failureMessages.join('\n')).slice(0, MAX_MESSAGE)}`,
        ),
      ...results.testResults.filter((suite) => suite.testExecError).map((suite) => suite.testFilePath),
    ],
    missing,
  };
}
