/** An event that cannot be published: `status` is the status that the API would return, `message` is for people. */
export class EventRefusedError extends Error {
  override readonly name = 'EventRefusedError';

  /**
   * @param status 400: name, data or options are invalid; 409: its idempotency key published another event; 413: its
   *   data is too large
   */
  constructor(
    readonly status: 400 | 409 | 413,
    message: string,
  ) {
    super(message);
  }
}
