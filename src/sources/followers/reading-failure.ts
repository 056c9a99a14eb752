/** A reading that does not count. The message is one sentence for the owner of the account; it never holds an address. */
export class ReadingFailure extends Error {
  /** @param waitMs how long the provider wants to be left alone */
  constructor(
    message: string,
    readonly waitMs = 0,
  ) {
    super(message);
  }
}

/** The account was deleted, or another process reads it: nothing is left to do. */
export class ReadingAbandoned extends Error {}
