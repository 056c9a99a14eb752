// Writes the counts of the run to the file in TEST_COUNTS.
const { writeFileSync } = require('node:fs');
const { stripVTControlCharacters } = require('node:util');

/** Characters of a failure's message: enough to see which expectation failed, and where. */
const MAX_MESSAGE = 800;

module.exports = class CountReporter {
  onRunComplete(_contexts, results) {
    const file = process.env.TEST_COUNTS;
    if (!file) return;
    const tests = results.testResults.flatMap((suite) => suite.testResults);
    const namesOf = (isOne) => tests.filter(isOne).map(({ fullName }) => fullName);
    const counts = {
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
      skippedOnRedis: namesOf(
        ({ status, fullName }) => ['pending', 'skipped'].includes(status) && /redis/i.test(fullName),
      ),
    };
    writeFileSync(file, JSON.stringify(counts));
  }
};
