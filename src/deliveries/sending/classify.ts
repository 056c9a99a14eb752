import type { HttpResult } from '../../infrastructure/destinations/http-result';
import { type DeliveryError, deliveryError } from '../delivery-error';

/** The result of an attempt. `gone`: the receiver returned 410. */
export type Verdict =
  { status: 'succeeded' } | { status: 'failed'; error: DeliveryError; retry: boolean; gone: boolean };

const GONE = 410;

/**
 * Classifies the result of a request: any 2xx status is a success; everything else is a failure, including redirects. A blocked
 * destination is not retried, and neither is a receiver that is gone (RFC 9110, section 15.5.11).
 */
export function classify(result: HttpResult, timeoutMs: number, url?: string): Verdict {
  const { durationMs } = result;
  if (result.kind === 'failure') {
    const { code, rule, phase, tls } = result;
    const error = deliveryError(code, { durationMs, timeoutMs, url, rule, phase, tls });
    return { status: 'failed', error, retry: code !== 'destination_blocked', gone: false };
  }
  const responseStatus = result.status;
  if (responseStatus >= 200 && responseStatus < 300) return { status: 'succeeded' };
  const code = responseStatus >= 300 && responseStatus < 400 ? 'redirect' : 'http_status';
  const gone = responseStatus === GONE;
  const error = deliveryError(code, { durationMs, timeoutMs, url, responseStatus });
  return { status: 'failed', error, retry: !gone, gone };
}
