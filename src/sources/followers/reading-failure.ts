/** A failed reading. Its message is one sentence for the account's owner and never contains an address. */
export class ReadingFailure extends Error {
  /** @param waitMs how long to wait before the next request to the provider */
  constructor(
    message: string,
    readonly waitMs = 0,
  ) {
    super(message);
  }
}

/** The account was deleted, or another process reads it. This process has nothing left to do. */
export class ReadingAbandoned extends Error {}
