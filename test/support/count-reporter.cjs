// Where TEST_COUNTS names a file, the run leaves its counts there.
const { writeFileSync } = require('node:fs');

module.exports = class CountReporter {
  onRunComplete(_contexts, results) {
    const file = process.env.TEST_COUNTS;
    if (!file) return;
    const skippedOnRedis = results.testResults
      .flatMap((suite) => suite.testResults)
      .filter(({ status, fullName }) => ['pending', 'skipped'].includes(status) && /redis/i.test(fullName))
      .map(({ fullName }) => fullName);
    const counts = {
      passed: results.numPassedTests,
      // A file that does not even load has no tests to count: it is one failure.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
      skippedOnRedis,
    };
    writeFileSync(file, JSON.stringify(counts));
  }
};
