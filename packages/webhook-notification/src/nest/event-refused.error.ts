import type { FieldError } from '../catalogue/field-error';

const STATUSES = { validation_failed: 400, idempotency_key_reused: 409, body_too_large: 413 } as const;

/** An event that cannot be published. `code` is that of the API; `message` is for people. */
export class EventRefusedError extends Error {
  override readonly name = 'EventRefusedError';
  /** The status that the API would return. */
  readonly status: 400 | 409 | 413;

  /**
   * @param code `validation_failed` (400): name, data or options are invalid; `idempotency_key_reused` (409): its key
   *   published another event; `body_too_large` (413): its data is too large
   * @param details the invalid fields, for `validation_failed`
   */
  constructor(
    readonly code: keyof typeof STATUSES,
    message: string,
    readonly details: readonly FieldError[] = [],
  ) {
    super(message);
    this.status = STATUSES[code];
  }
}
