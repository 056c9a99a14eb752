import type { Token } from '../../api/types';
import { plainOf } from '../../parts/plain';
import { dateOf, useUtc } from '../../parts/time';
import { TEXT } from '../../text/en';

/** Returns a function that names tokens. All sessions have the same name: the time tells them apart. */
export function useTokenName(): (token: Token) => string {
  const [isUtc] = useUtc();
  return ({ name, session, createdAt }) => (session ? TEXT.tokens.sessionOf(dateOf(createdAt, isUtc)) : plainOf(name));
}
