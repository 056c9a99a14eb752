import { RepeatFilter } from './repeat-filter';

it('passes a text once a minute, and other texts at once', () => {
  const filter = new RepeatFilter();
  const seen = [0, 1000, 59_999, 60_000, 61_000].map((ms) => filter.isNews('Redis is away', ms));
  expect(seen).toEqual([true, false, false, true, false]);
  expect(filter.isNews('PostgreSQL is away', 61_000)).toBe(true);
});

it('forgets all texts at the 1001st', () => {
  const filter = new RepeatFilter();
  for (let i = 0; i < 1000; i++) filter.isNews(`job ${i}`, 0);
  expect(filter.isNews('job 999', 1)).toBe(false);
  expect(filter.isNews('job 1000', 1)).toBe(true);
  expect(filter.isNews('job 999', 1)).toBe(true);
});
