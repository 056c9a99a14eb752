import { isFirstDue, nextReadingOf } from './next-reading';

const NOW = Date.parse('2026-01-15T09:30:00.000Z');
const READ = {
  ...{ provider: 'mastodon' as const, intervalSeconds: 300 },
  ...{ lastReadAt: '2026-01-15T09:28:00.000Z', lastError: null },
};

describe('nextReadingOf', () => {
  it('is one interval after the last reading', () => {
    expect(nextReadingOf(READ, NOW)).toEqual({ when: 'in', leftMs: 180_000 });
    expect(nextReadingOf(READ, NOW + 180_000)).toEqual({ when: 'now' });
  });

  it('has no time for a pushed list, before the first list and after an error', () => {
    expect(nextReadingOf({ ...READ, provider: 'push' }, NOW)).toEqual({ when: 'push' });
    expect(nextReadingOf({ ...READ, lastReadAt: null }, NOW)).toEqual({ when: 'first' });
    expect(nextReadingOf({ ...READ, lastError: 'a.example did not answer.' }, NOW)).toEqual({ when: 'retry' });
  });
});

describe('isFirstDue', () => {
  it('is true until the first reading has ended, and never for a pushed list', () => {
    expect(isFirstDue({ ...READ, lastReadAt: null })).toBe(true);
    expect(isFirstDue(READ)).toBe(false);
    expect(isFirstDue({ ...READ, lastReadAt: null, lastError: 'a.example did not answer.' })).toBe(false);
    expect(isFirstDue({ ...READ, lastReadAt: null, provider: 'push' })).toBe(false);
  });
});
