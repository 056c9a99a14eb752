import type { FieldError } from 'webhook-notification/catalogue';
import { MAX_DETAILS } from './api-error';
import type { ErrorCode } from './error-codes';

/** The response to every failed request under `/api`. */
export interface ErrorEnvelope {
  success: false;
  /** One readable sentence. */
  error: string;
  code: ErrorCode;
  /** The `x-request-id` of the response. */
  requestId: string;
  /** The invalid fields, for `validation_failed`. */
  details?: readonly FieldError[];
}

interface Rejection {
  code: ErrorCode;
  message: string;
  details?: readonly FieldError[] | undefined;
}

/** Returns the response to a failed request. */
export const errorEnvelope = ({ code, message, details }: Rejection, requestId: string): ErrorEnvelope => ({
  success: false,
  error: message,
  code,
  requestId,
  ...(details && { details: details.slice(0, MAX_DETAILS) }),
});
