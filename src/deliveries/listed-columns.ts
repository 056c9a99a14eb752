import type { Delivery } from './delivery.entity';
import { hasRate } from './lease';

/** The fields of a delivery that lists return. */
export type ListedDelivery = Omit<
  Delivery,
  'userId' | 'requestHeaders' | 'responseHeaders' | 'responseBody' | 'responseBodyTruncated'
>;

/** SQL for the same columns of a row `d`. */
export const LISTED_COLUMNS = `
  d.id, d.webhook_id as "webhookId", d.event_id as "eventId", d.event, d.attempt, d.trigger, d.status, d.url,
  d.response_status as "responseStatus", d.duration_ms as "durationMs", d.error_code as "errorCode",
  d.error_message as "errorMessage", d.scheduled_at as "scheduledAt", d.attempted_at as "attemptedAt",
  d.completed_at as "completedAt", d.next_attempt_at as "nextAttemptAt", d.parked, d.claimed,
  d.parked and ${hasRate('d')} as "hasRate"`;
