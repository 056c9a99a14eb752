import type { FieldError } from 'webhook-notification/catalogue';
import { MAX_DETAILS } from './api-error';
import type { ErrorCode } from './error-codes';

export interface ErrorEnvelope {
  success: false;
  error: string;
  code: ErrorCode;
  requestId: string;
  details?: readonly FieldError[];
}

interface Rejection {
  code: ErrorCode;
  message: string;
  details?: readonly FieldError[] | undefined;
}

export const errorEnvelope = ({ code, message, details }: Rejection, requestId: string): ErrorEnvelope => ({
  success: false,
  error: message,
  code,
  requestId,
  ...(details && { details: details.slice(0, MAX_DETAILS) }),
});
