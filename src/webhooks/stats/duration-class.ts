/**
 * Start of each class in ms. Each class ends where the next begins, at 1.4 times its start, so its midpoint is at most 18 % off.
 */
const FIRST_MS = [
  0, 1, 2, 3, 4, 6, 8, 11, 16, 22, 31, 43, 60, 84, 118, 165, 231, 323, 453, 634, 887, 1242, 1739, 2435, 3409, 4772,
  6681, 9353, 13_095, 18_333, 25_666, 35_932, 50_305,
];

/** SQL expression for the class of a duration: a number from 1. `duration` is an SQL expression in ms. */
export const durationClassOf = (duration: string): string =>
  `width_bucket(${duration}, '{${FIRST_MS.join(',')}}'::int[])`;

/** Returns the midpoint of a class in ms, at most 20 % off any whole duration in it. The last class has no end. */
export function middleOf(durationClass: number): number {
  const first = FIRST_MS[durationClass - 1] ?? 0;
  const last = (FIRST_MS[durationClass] ?? first + 1) - 1;
  return Math.round(Math.sqrt(first * last));
}

/**
 * Returns the nearest-rank percentile of the response times in ms, accurate to 20 %. Null without responses.
 * @param counts responses by class; `share` is from 0 to 1
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
