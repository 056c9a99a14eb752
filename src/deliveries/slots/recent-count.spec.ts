import { RecentCount } from './recent-count';

describe('A recent count', () => {
  it('holds what happened in this half second and the one before', () => {
    const count = new RecentCount(1000);
    for (const now of [1000, 1400, 1600, 1700, 1800]) count.add(now);
    expect(count.at(1999)).toBe(5);
    expect(count.at(2000)).toBe(3);
    count.add(2100);
    expect(count.at(2499)).toBe(4);
    expect(count.at(2500)).toBe(1);
  });

  it('forgets everything after a second of nothing', () => {
    const count = new RecentCount(0);
    count.add(10);
    expect(count.at(1009)).toBe(0);
    expect(count.at(60_000)).toBe(0);
    count.add(60_100);
    expect(count.at(60_400)).toBe(1);
  });
});
