import type { HttpResult } from '../destinations/http-result';
import { type DeliveryError, deliveryError } from './failure';

/** What an attempt came to. */
export type Verdict = { status: 'succeeded' } | { status: 'failed'; error: DeliveryError; retry: boolean };

/**
 * Judges the result of a request: any 2xx status is success, everything else fails, redirects included. A blocked
 * destination is not worth a retry.
 */
export function classify(result: HttpResult, timeoutMs: number): Verdict {
  const { durationMs } = result;
  if (result.kind === 'failure') {
    const { code, rule } = result;
    const error = deliveryError(code, { durationMs, timeoutMs, rule });
    return { status: 'failed', error, retry: code !== 'destination_blocked' };
  }
  const responseStatus = result.status;
  if (responseStatus >= 200 && responseStatus < 300) return { status: 'succeeded' };
  const code = responseStatus >= 300 && responseStatus < 400 ? 'redirect' : 'http_status';
  return { status: 'failed', error: deliveryError(code, { durationMs, timeoutMs, responseStatus }), retry: true };
}
