/**
 * SQL for the rate of a webhook `w`, `maxPerSecond`, which all processes share. Its row stores until when the rate is used up: each
 * attempt uses 1 / rate seconds. Unused seconds add up to `BURST`.
 */

/** In seconds. Half of what ten seconds may have in excess (10 %), because attempts can also arrive half a second late. */
const BURST = 'greatest(0.5, 1 / w.max_per_second)';

const STORED = `coalesce(extract(epoch from w.rate_used_until - now())::float8, 0)`;

/** Seconds that are used up from now on. More than the burst are of a lower rate that was raised, and permit an attempt at once. */
const USED = `greatest(0, case when ${STORED} > ${BURST} then ${BURST} - 1 / w.max_per_second else ${STORED} end)`;

/** Number of attempts that may begin now; null without a rate. */
export const PERMITS = `floor(w.max_per_second * (${BURST} - ${USED}) + 0.0001)::int`;

/** The columns of a CTE `paced`, which locks webhooks `w` that have a rate. */
export const RATE_COLUMNS = `w.id, w.max_per_second as rate, ${BURST} as burst, ${USED} as used, ${PERMITS} as permits`;

/** When the rate of `paced` is used up after `count` further attempts. */
export const usedUntil = (count: string): string => `now() + make_interval(secs => paced.used + ${count} / paced.rate)`;

/** Milliseconds until the next attempt may begin, after `count` further ones; 0 if one may begin now. */
export const nextPermitInMs = (count: string): string =>
  `greatest(0, 1000 * (paced.used + (${count} + 1) / paced.rate - paced.burst))`;
