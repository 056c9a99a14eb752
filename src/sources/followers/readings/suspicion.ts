import type { Difference } from './followers.repository';

const MANY = 10_000;

/**
 * Returns why a reading is too doubtful to take effect at once: the account would gain or lose more than 10,000
 * followers, or lose all. Null if there is no doubt. The next reading confirms it by returning the same text.
 */
export function suspicionOf({ gained, lost, known, staged }: Difference): string | null {
  const suspicions = [
    ...(gained > MANY ? [`gained more than ${MANY}`] : []),
    ...(known > 0 && staged === 0 ? ['lost all'] : lost > MANY ? [`lost more than ${MANY}`] : []),
  ];
  return suspicions.length > 0 ? suspicions.join(' and ') : null;
}
