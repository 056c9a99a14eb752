import type { Outcome } from './attempt';

/**
 * The columns of a row that an outcome sets, as JSON for `json_to_recordset`. An undefined value is left out, and is null in
 * the row.
 * @param newId makes the id of the next attempt, when one follows
 */
export function columnsOf(
  { deliveryId, status, error, exchange, retryInMs }: Outcome,
  newId: () => string,
): Record<string, unknown> & { id: string } {
  const response = exchange?.response;
  return {
    id: deliveryId,
    status,
    error_code: error?.code,
    error_message: error?.message,
    url: exchange?.url,
    attempted_at: exchange?.attemptedAt,
    duration_ms: exchange?.durationMs,
    request_headers: exchange?.requestHeaders,
    response_status: response?.status,
    response_headers: response?.headers,
    // PostgreSQL's text cannot hold NUL.
    response_body: response?.body.replaceAll('\0', '\ufffd'),
    response_body_truncated: response?.bodyTruncated,
    ...(retryInMs !== null && { next_id: newId(), delay_ms: retryInMs }),
  };
}
