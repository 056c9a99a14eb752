// Starts the files that take longest first, so that no worker is left alone with one at the end, and makes shards of equal
// length.
const { default: Sequencer } = require('@jest/test-sequencer');
const { millisecondsOf } = require('./selection.cjs');

const longestFirst = (tests) =>
  [...tests].sort((a, b) => millisecondsOf(b.path) - millisecondsOf(a.path) || (a.path < b.path ? -1 : 1));

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return longestFirst(tests);
  }

  shard(tests, { shardIndex, shardCount }) {
    const shards = Array.from({ length: shardCount }, () => ({ sum: 0, tests: [] }));
    for (const test of longestFirst(tests)) {
      const [shortest] = [...shards].sort((a, b) => a.sum - b.sum);
      shortest.sum += millisecondsOf(test.path);
      shortest.tests.push(test);
    }
    return shards[shardIndex - 1].tests;
  }
};
