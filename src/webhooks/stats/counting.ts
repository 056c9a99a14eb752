import { durationClassOf } from './duration-class';

/**
 * Counts attempts in the statement that writes their outcomes: a data-modifying CTE. So the counts equal the log, whatever
 * dies. `rows` is a query of `webhook_id, user_id, status, error_code, response_status, duration_ms, at, count`; tests and
 * pending rows must not be among them.
 *
 * Every process has rows of its own by its `writer`, so that two of them do not wait for each other. They are locked in
 * order, because two processes may have drawn the same number.
 */
export const countAttempts = (rows: string, writer: string): string => `
  insert into webhook_service.attempt_counts as c
    (webhook_id, user_id, minutes, status, at, error_code, duration_class, writer, count)
  select webhook_id, user_id, minutes, status, date_bin(minutes * interval '1 minute', r.at, timestamptz 'epoch'),
         coalesce(error_code, ''),
         case when response_status is null then 0 else ${durationClassOf('duration_ms')} end, ${writer}, sum(count)
  from (${rows}) as r cross join unnest('{5,60}'::smallint[]) as s (minutes)
  group by 1, 2, 3, 4, 5, 6, 7
  order by 1, 2, 3, 4, 5, 6, 7
  on conflict (webhook_id, minutes, status, at, error_code, duration_class, writer)
    do update set count = c.count + excluded.count`;

/** A number for `writer`. `random` is from 0 up to 1. */
export const writerOf = (random: number): number => Math.floor(random * 32_768);

/** Cancellations are rare, and may hold their locks for long: they have rows of their own. */
export const CANCELLATIONS_WRITER = '-1';
