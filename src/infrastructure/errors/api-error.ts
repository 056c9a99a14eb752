import { type FieldError, messageOf } from 'webhook-notification/catalogue';
import { ERROR_CODES, type ErrorCode } from './error-codes';

export const MAX_DETAILS = 20;

interface ErrorParts {
  headers?: Readonly<Record<string, string>>;
  details?: readonly FieldError[];
}

/** A rejected request. The client receives the message unchanged: one readable sentence. */
export class ApiError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: readonly FieldError[] | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    { headers = {}, details }: ErrorParts = {},
  ) {
    super(message);
    this.status = ERROR_CODES[code].status;
    this.headers = headers;
    this.details = details;
  }

  /** Returns the error of a request with these invalid fields, of which the response lists up to 20. */
  static invalid(...details: FieldError[]): ApiError {
    return new ApiError('validation_failed', messageOf(details.slice(0, MAX_DETAILS)), { details });
  }
}

/** Returns the error of a request that may succeed in a second: 503 with `retry-after`. */
export const retryLater = (code: 'busy' | 'unavailable', message: string): ApiError =>
  new ApiError(code, message, { headers: { 'retry-after': '1' } });

export const invalid = (field: string, message: string): ApiError =>
  ApiError.invalid({ field, code: 'invalid', message });

/** Returns the error of a cursor that is not from this list, or too old. */
export const invalidCursor = (parameter: 'cursor' | 'changedAfter', message: string): ApiError =>
  new ApiError('cursor_invalid', message, { details: [{ field: `query.${parameter}`, code: 'invalid', message }] });
