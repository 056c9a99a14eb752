import { durationClassOf } from './duration-class';

/**
 * Counts attempts in the statement that writes their outcomes: a data-modifying CTE. So the counts equal the log, whatever
 * dies. Nobody waits for it, because it only appends; `StatsRepository.rollUp` sums up later. `rows` is a query of
 * `webhook_id, user_id, status, error_code, response_status, duration_ms, at, count`; tests and pending rows must not be
 * among them.
 */
export const countAttempts = (rows: string): string => `
  insert into webhook_service.recent_attempts (webhook_id, user_id, status, error_code, duration_class, at, count)
  select webhook_id, user_id, status, coalesce(error_code, ''),
         case when response_status is null then 0 else ${durationClassOf('duration_ms')} end, at, count
  from (${rows}) as r`;
