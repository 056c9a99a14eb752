/** Each class begins here, in ms, and ends where the next begins: 1.4 times as long, so that its middle is 18 % off at most. */
const FIRST_MS = [
  0, 1, 2, 3, 4, 6, 8, 11, 16, 22, 31, 43, 60, 84, 118, 165, 231, 323, 453, 634, 887, 1242, 1739, 2435, 3409, 4772,
  6681, 9353, 13_095, 18_333, 25_666, 35_932, 50_305,
];

/** The class of a duration, as SQL: a number from 1. `duration` is SQL too, in ms. */
export const durationClassOf = (duration: string): string =>
  `width_bucket(${duration}, '{${FIRST_MS.join(',')}}'::int[])`;

/** The middle of a class, in ms. Every whole duration in it is at most 20 % off. The last class has no end. */
export function middleOf(durationClass: number): number {
  const first = FIRST_MS[durationClass - 1] ?? 0;
  const last = (FIRST_MS[durationClass] ?? first + 1) - 1;
  return Math.round(Math.sqrt(first * last));
}

/**
 * The duration in ms below or at which this share of the answers came, to within 20 %: the nearest rank. Null without any.
 * @param counts answers by class; `share` is from 0 to 1
 */
export function percentileMs(counts: ReadonlyMap<number, number>, share: number): number | null {
  const classes = [...counts].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
  const rank = share * classes.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [durationClass, count] of classes) {
    seen += count;
    if (seen >= rank) return middleOf(durationClass);
  }
  return null;
}
