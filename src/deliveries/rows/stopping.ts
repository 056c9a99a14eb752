import type { CancelReason } from '../../webhooks/webhook-lifecycle.service';
import { deliveryError, type ErrorCode } from './delivery-error';

/**
 * A webhook is stopping from the moment at which it is disabled or deleted until its pending rows are canceled, when those are too
 * many for one transaction. Meanwhile nothing claims these rows, and the log shows them as canceled. Every statement that claims
 * pending rows, counts them or shows them asks for this.
 */

/** Why a row is shown as canceled, and since when; from JSON. */
export interface Stopped {
  reason: CancelReason;
  at: string;
}

// Subqueries, because the planner would start a join from a table that is nearly always empty.

/** SQL: whether the webhook with this id is stopping. */
export const isStopping = (webhookId: string): string =>
  `coalesce((select true from webhook_service.stopping_webhooks s where s.webhook_id = ${webhookId}), false)`;

/** SQL: whether a pending row will be canceled because its webhook is stopping. Tests are not canceled. */
export const isStopped = (row: string): string => `(${row}.trigger <> 'test' and ${isStopping(`${row}.webhook_id`)})`;

/** SQL for a `Stopped`; null unless the row is pending and `isStopped`. */
export const stoppedOf = (row: string): string => `
  case when ${row}.status = 'pending' and ${row}.trigger <> 'test' then (
    select json_build_object('reason', s.reason, 'at', s.stopped_at)
    from webhook_service.stopping_webhooks s where s.webhook_id = ${row}.webhook_id) end`;

/** SQL: the status and the error code of a row as the log shows them. `asShown` does the same to a row in memory. */
export const shownStatusOf = (row: string): string =>
  `case when ${row}.status = 'pending' and ${isStopped(row)} then 'canceled' else ${row}.status end`;
export const shownErrorOf = (row: string): string => `coalesce(${stoppedOf(row)} ->> 'reason', ${row}.error_code)`;

/** The columns that canceling changes, and `stopped`. */
interface ShownColumns {
  status: string;
  errorCode: ErrorCode | null;
  errorMessage: string | null;
  completedAt: Date | null;
  stopped: Stopped | null;
}

/** The error of rows that are canceled for this reason. */
export const errorOfStop = (reason: CancelReason): ReturnType<typeof deliveryError> =>
  deliveryError(reason, { durationMs: 0, timeoutMs: 0 });

/** Returns a row as the log shows it: canceled if it is about to be, with the values that canceling will write. */
export function asShown<Row extends ShownColumns>(row: Row): Row {
  if (!row.stopped) return row;
  const { code, message } = errorOfStop(row.stopped.reason);
  return { ...row, status: 'canceled', errorCode: code, errorMessage: message, completedAt: new Date(row.stopped.at) };
}
