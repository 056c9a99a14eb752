import type { Difference } from './followers.repository';

const MANY = 10_000;

/**
 * What makes a reading too doubtful to count at once: the account would gain or lose more than 10,000 followers, or
 * lose all. Null when nothing does. The next reading confirms it when it gives the same text.
 */
export function suspicionOf({ gained, lost, known, staged }: Difference): string | null {
  const suspicions = [
    ...(gained > MANY ? [`gained more than ${MANY}`] : []),
    ...(known > 0 && staged === 0 ? ['lost all'] : lost > MANY ? [`lost more than ${MANY}`] : []),
  ];
  return suspicions.length > 0 ? suspicions.join(' and ') : null;
}
