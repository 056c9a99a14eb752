import type { FieldError } from '../catalogue/field-error';

interface ServiceErrorOptions extends ErrorOptions {
  fromService?: boolean;
  code?: string | null | undefined;
  details?: readonly FieldError[] | undefined;
}

/** Why a request failed. `message` is a sentence, usually the service's own; docs/errors.md says what to do. */
export class WebhookServiceError extends Error {
  override readonly name = 'WebhookServiceError';
  /** True when the response came from the service itself; false for a proxy, another server, or no response. */
  readonly fromService: boolean;
  /** The service's code for the cause, such as `webhook_limit_reached`; null when the service sent none. */
  readonly code: string | null;
  /** The invalid fields, when `code` is `validation_failed`. */
  readonly details: readonly FieldError[];

  constructor(
    message: string,
    /** The status of the response; null when there was none, and `cause` says why. */
    readonly status: number | null,
    /** `x-request-id` of the response, with which the operator finds the request in the log; null when there was none. */
    readonly requestId: string | null,
    { fromService = false, code = null, details = [], ...options }: ServiceErrorOptions = {},
  ) {
    super(message, options);
    this.fromService = fromService;
    this.code = code;
    this.details = details;
  }
}
