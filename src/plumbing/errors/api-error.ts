type Status = 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 429 | 431 | 503;

/** A request that cannot be answered as asked. The message goes to the client as it is: one readable sentence. */
export class ApiError extends Error {
  constructor(
    readonly status: Status,
    message: string,
    /** Sent with the answer. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}
