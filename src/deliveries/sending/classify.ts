import { MINUTE_MS } from '../../infrastructure/config/durations';
import type { HttpResult } from '../../infrastructure/destinations/exchange.client';
import type { Attempt, Exchange, Outcome } from '../rows/attempt';
import { type DeliveryError, deliveryError, type ErrorCode } from '../rows/delivery-error';
import { retryDelayMs, type RetrySchedule } from './backoff';

/** The result of an attempt, by the response of its receiver or the word of its consumer. `gone`: the receiver returned 410. */
export type Verdict =
  { status: 'succeeded' } | { status: 'failed'; error: DeliveryError; retry: boolean; gone: boolean };

const GONE = 410;
const TRUSTED_OFFSET_MS = 10 * MINUTE_MS;

/**
 * Returns the result of an exchange as a failure of ours when a certificate is out of its time by a clock that is wrong.
 * @param clockOffsetMs the difference between the clocks of this machine and of PostgreSQL
 */
export function withoutOurClock(result: HttpResult, clockOffsetMs: number): HttpResult {
  const isByTime = result.kind === 'failure' && (result.tls === 'expired' || result.tls === 'not_yet_valid');
  return isByTime && Math.abs(clockOffsetMs) > TRUSTED_OFFSET_MS ? { ...result, code: 'service_failed' } : result;
}

/** Any 2xx status is a success. A blocked destination and a receiver that is gone (RFC 9110, 15.5.11) are not retried. */
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

interface RetryPlan {
  schedule: RetrySchedule;
  /** The webhook's own delays; null: those of the schedule. */
  retryDelaysMs: readonly number[] | null;
  /** From 0 (included) to 1 (excluded). */
  random: number;
  /** The receiver asked to be left alone for this long. */
  notBeforeMs?: number;
}

/** Returns the outcome of an attempt that was made: whether it is made again, and otherwise the event's final one. Tests have neither. */
export function outcomeOf(
  { id, attempt, trigger }: Pick<Attempt, 'id' | 'attempt' | 'trigger'>,
  exchange: Exchange,
  verdict: Verdict,
  { schedule, retryDelaysMs, random, notBeforeMs = 0 }: RetryPlan,
): Outcome {
  const isTest = trigger === 'test';
  const { status } = verdict;
  if (status === 'succeeded')
    return { deliveryId: id, status, error: null, exchange, retryInMs: null, finalStatus: isTest ? null : 'succeeded' };
  const mayRetry = verdict.retry && !isTest;
  const delayMs = mayRetry ? retryDelayMs(attempt, schedule, random, retryDelaysMs) : null;
  const retryInMs = delayMs === null ? null : Math.max(delayMs, notBeforeMs);
  const isFinal = retryInMs === null && !isTest;
  const finalStatus = isFinal ? (verdict.gone ? 'gone' : 'out_of_retries') : null;
  return { deliveryId: id, status, error: verdict.error, exchange, retryInMs, finalStatus };
}

/** Returns the outcome of an attempt for which no request was made. */
export function unsent(deliveryId: string, status: 'failed' | 'canceled', code: ErrorCode): Outcome {
  const error = deliveryError(code, { durationMs: 0, timeoutMs: 0 });
  return { deliveryId, status, error, exchange: null, retryInMs: null, finalStatus: null };
}
