import { timeLeftMs } from './time-left';

it.each([
  ['half of it in two seconds', 500, 1000, 2000, 2000],
  ['a tenth of it in a minute', 100, 1000, 60_000, 540_000],
  ['nothing so far', 0, 1000, 60_000, null],
  ['everything', 1000, 1000, 60_000, null],
  ['more than was counted', 1001, 1000, 60_000, null],
  ['by a clock that is behind', 500, 1000, -5, null],
])('the rest after %s', (_, sent, count, elapsedMs, left) => {
  expect(timeLeftMs(sent, count, elapsedMs)).toBe(left);
});
