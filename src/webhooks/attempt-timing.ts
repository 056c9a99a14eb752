import { type FieldError, invalidField } from 'webhook-notification/catalogue';
import { ApiError } from '../infrastructure/errors/api-error';
import { DAY_MS, MINUTE_MS } from '../infrastructure/config/durations';

export const MIN_TIMEOUT_MS = 500;
/** The highest value of `DELIVERY_TIMEOUT_MS`. */
export const MAX_TIMEOUT_MS = MINUTE_MS;

export const MIN_RETRY_DELAY_MS = 1000;
export const MAX_RETRY_DELAY_MS = DAY_MS;
/** The highest value of `MAX_RETRIES`. */
export const MAX_RETRY_DELAYS = 3;

export const MIN_PER_SECOND = 0.1;
export const MAX_PER_SECOND = 1000;

/** Returns the retry delays of a webhook as a request sets them: null, or at most three whole numbers of ms. */
export function parseRetryDelays(value: unknown): number[] | null {
  if (value === null) return null;
  if (!Array.isArray(value))
    throw ApiError.invalid(invalidField('retryDelaysMs', 'must be a list of delays in ms, or null'));
  if (value.length > MAX_RETRY_DELAYS)
    throw ApiError.invalid(invalidField('retryDelaysMs', `must have at most ${MAX_RETRY_DELAYS} delays`));
  const errors = value.flatMap((delay, i) => (isDelay(delay) ? [] : [delayError(`retryDelaysMs[${i}]`)]));
  if (errors.length > 0) throw ApiError.invalid(...errors);
  return value as number[];
}

interface Bounds {
  deliveryTimeoutMs: number;
  maxRetries: number;
  retentionDays: number;
}

/** Returns the errors of a deadline and of retry delays that exceed the current settings. */
export function timingErrors(
  { timeoutMs, retryDelaysMs }: { timeoutMs?: number | null; retryDelaysMs?: number[] | null },
  { deliveryTimeoutMs, maxRetries, retentionDays }: Bounds,
): FieldError[] {
  const delays = retryDelaysMs ?? [];
  const sumMs = delays.reduce((sum, delay) => sum + delay, 0);
  return [
    ...((timeoutMs ?? 0) > deliveryTimeoutMs
      ? [invalidField('timeoutMs', `must be at most ${deliveryTimeoutMs}, which DELIVERY_TIMEOUT_MS sets`)]
      : []),
    ...(delays.length > maxRetries
      ? [invalidField('retryDelaysMs', `must have at most ${maxRetries} delays, which MAX_RETRIES sets`)]
      : []),
    ...(sumMs > retentionDays * DAY_MS
      ? [
          invalidField(
            'retryDelaysMs',
            `must be at most ${retentionDays * DAY_MS} ms in sum, the days that RETENTION_DAYS sets`,
          ),
        ]
      : []),
  ];
}

const isDelay = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= MIN_RETRY_DELAY_MS && (value as number) <= MAX_RETRY_DELAY_MS;

const delayError = (field: string): FieldError =>
  invalidField(field, `must be a whole number from ${MIN_RETRY_DELAY_MS} to ${MAX_RETRY_DELAY_MS}`);
