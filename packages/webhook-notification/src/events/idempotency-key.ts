export const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/** True for a valid idempotency key: 1 to 255 printable ASCII characters. */
export const isIdempotencyKey = (text: unknown): text is string =>
  typeof text === 'string' && IDEMPOTENCY_KEY.test(text);
