import { RepeatFilter } from './repeat-filter';

it('lets a text through once a minute, and another at once', () => {
  const filter = new RepeatFilter();
  const seen = [0, 1000, 59_999, 60_000, 61_000].map((ms) => filter.isNews('Redis is away', ms));
  expect(seen).toEqual([true, false, false, true, false]);
  expect(filter.isNews('PostgreSQL is away', 61_000)).toBe(true);
});
