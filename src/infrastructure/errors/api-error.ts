type Status = 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 417 | 429 | 431 | 503;

/** A rejected request. The client receives the message unchanged: one readable sentence. */
export class ApiError extends Error {
  constructor(
    readonly status: Status,
    message: string,
    /** Headers of the response. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}
