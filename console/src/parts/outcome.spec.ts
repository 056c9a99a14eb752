import { outcomeOf } from './outcome';

const at = '2026-01-01T00:00:00Z';

describe('outcomeOf', () => {
  it.each([
    ['delivered', { status: 'succeeded', attempt: 2 }],
    ['waiting', { status: 'pending', attempt: 1 }],
    ['retrying', { status: 'pending', attempt: 2 }],
    ['failed', { status: 'failed', attempt: 1, nextAttemptAt: at }],
    ['gave_up', { status: 'failed', attempt: 4, nextAttemptAt: null }],
    ['canceled', { status: 'canceled', attempt: 1 }],
  ] as const)('is %s', (expected, row) => {
    expect(outcomeOf({ nextAttemptAt: null, ...row })).toBe(expected);
  });
});
