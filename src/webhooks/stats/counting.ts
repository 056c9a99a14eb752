import { durationClassOf } from './duration-class';

/**
 * SQL that counts attempts in the statement that writes their outcomes, as a data-modifying CTE, so that the counts
 * always equal the log, even after a crash. It only appends, so no statement waits for it; `StatsRepository.rollUp`
 * sums up later. `rows` is a query of `webhook_id, user_id, status, error_code, response_status, duration_ms, at,
 * count` that must exclude tests and pending rows.
 */
export const countAttempts = (rows: string): string => `
  insert into webhook_service.recent_attempts (webhook_id, user_id, status, error_code, duration_class, at, count)
  select webhook_id, user_id, status, coalesce(error_code, ''),
         case when response_status is null then 0 else ${durationClassOf('duration_ms')} end, at, count
  from (${rows}) as r`;
