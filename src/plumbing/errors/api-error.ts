type Status = 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 429 | 431 | 503;

/** A request that the service refuses. The client gets the message unchanged: one readable sentence. */
export class ApiError extends Error {
  constructor(
    readonly status: Status,
    message: string,
    /** Headers that are sent with the answer. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}
