/**
 * Every sentence that the service itself answers with, outside validation. `docs/errors.md` explains each of them, and
 * a test holds the two together.
 */
export const MESSAGES = {
  internal: 'Something went wrong on our side. Please try again; the x-request-id of this answer helps us find it.',
  unavailable: 'The service is not ready: its database does not answer. Please try again in a moment.',
  unauthenticated: 'Authentication required: send a valid access token as "Authorization: Bearer <token>".',
  malformedJson: 'The request body is not valid JSON.',
  malformedUrl: 'The URL is not valid.',
  malformedHttp: 'The request is not valid HTTP.',
  headersTooLarge: 'The request headers are too large.',
  requestTimeout: 'The request took too long to arrive.',
  malformedUtf8: 'The request body is not valid UTF-8.',
  bodyTooLarge: 'The request body is larger than this route allows.',
  unsupportedMediaType: 'The request body must be sent as application/json.',
  webhookNotFound: 'There is no webhook with this id.',
  deliveryNotFound: 'This webhook has no delivery with this id.',
  eventNotFound: 'There is no event with this id.',
  testInFlight: 'A test of this webhook is still running. Wait for its outcome.',
  idempotencyKeyMismatch: 'The header Idempotency-Key and the field idempotencyKey differ. Send only one of them.',
  idempotencyKeyReused: 'This idempotency key was already used for another event, audience or data.',
  userIdUndefined: 'userId is present but undefined: name the user, or pass null for everybody.',
  badUserId: 'userId must be 1 to 128 of the characters A-Z a-z 0-9 . _ @ : | -',
  badIdempotencyKey: 'idempotencyKey must be 1 to 255 printable ASCII characters',
  badPublishRequest: 'The request body must be a JSON object with event and data.',
  badTime: 'must be an ISO 8601 time such as 2026-01-15T09:30:00Z or 2026-01-15T10:30:00+01:00',
  badCursor: 'The cursor is not valid for this list: use the nextCursor of the previous page with the same filters.',
  patchEmpty: 'Name at least one field to change: url, events, secret, description or active.',
  broadcastRefused: 'This token lacks the scope events:broadcast, which publishing for others or for everybody takes.',
} as const;

/** Sentences with a fact of the request in them. */
export const messageFor = {
  missingScope: (scope: string) => `This token lacks the scope ${scope}.`,
  notAnId: (text: string) => `${JSON.stringify(text.slice(0, 64))} is not an id: ids are UUIDs.`,
  noRoute: (method: string, path: string) => `There is no route ${method} ${path}.`,
  unknownField: (field: string) => `${field} is not a known field`,
  unknownEvents: (unknown: readonly string[], known: readonly string[]) =>
    `events names nothing known: ${unknown.join(', ')}. Known are ${known.join(', ')}, prefixes such as follower.*, and *`,
  unknownEvent: (name: string, known: readonly string[]) =>
    `There is no event named ${JSON.stringify(name.slice(0, 128))}. Known are ${known.join(', ')}.`,
  reservedEvent: (name: string) => `${name} is reserved: only the service itself publishes webhook.* events.`,
  eventTooLarge: (maxBytes: number) => `data is larger than the ${maxBytes} bytes that an event may have.`,
  tooManyWebhooks: (max: number) => `You have ${max} webhooks, which is the most a user may have. Delete one first.`,
};
