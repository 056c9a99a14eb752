import {
  BAD_APPLICATION,
  type FieldError,
  messageOf,
  PUBLICATION_MESSAGES,
  publicationMessageFor,
} from 'webhook-notification/catalogue';
import { ERROR_CODES, type ErrorCode } from './error-codes';

export const MAX_DETAILS = 20;

interface ErrorParts {
  headers?: Readonly<Record<string, string>>;
  details?: readonly FieldError[];
}

/** A rejected request. The client receives the message unchanged: one readable sentence. */
export class ApiError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: readonly FieldError[] | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    { headers = {}, details }: ErrorParts = {},
  ) {
    super(message);
    this.status = ERROR_CODES[code].status;
    this.headers = headers;
    this.details = details;
  }

  /** Returns the error of a request with these invalid fields, of which the response lists up to 20. */
  static invalid(...details: FieldError[]): ApiError {
    return new ApiError('validation_failed', messageOf(details.slice(0, MAX_DETAILS)), { details });
  }
}

/** Returns the error of a request that may succeed in a second: 503 with `retry-after`. */
export const retryLater = (code: 'busy' | 'unavailable', message: string): ApiError =>
  new ApiError(code, message, { headers: { 'retry-after': '1' } });

export const invalid = (field: string, message: string): ApiError =>
  ApiError.invalid({ field, code: 'invalid', message });

/** Returns the error of a cursor that is not from this list, or too old. */
export const invalidCursor = (parameter: 'cursor' | 'changedAfter', message: string): ApiError =>
  new ApiError('cursor_invalid', message, { details: [{ field: `query.${parameter}`, code: 'invalid', message }] });

export interface ErrorEnvelope {
  success: false;
  error: string;
  code: ErrorCode;
  requestId: string;
  details?: readonly FieldError[];
}

interface Rejection {
  code: ErrorCode;
  message: string;
  details?: readonly FieldError[] | undefined;
}

export const errorEnvelope = ({ code, message, details }: Rejection, requestId: string): ErrorEnvelope => ({
  success: false,
  error: message,
  code,
  requestId,
  ...(details && { details: details.slice(0, MAX_DETAILS) }),
});

export const MESSAGES = {
  ...PUBLICATION_MESSAGES,
  internal: 'Something went wrong on our side. Please try again; the x-request-id of this response helps us find it.',
  unavailable: 'The service is not ready: its database does not answer. Please try again in a moment.',
  busy: 'Another change of the same data has not ended yet. Please try again in a second.',
  databaseReadOnly: 'The service is not ready: its database takes no writes. Please try again in a moment.',
  identityProviderUnavailable:
    'The identity provider does not answer, so this token cannot be checked. Please try again in a moment.',
  unauthenticated: 'Authentication required: send a valid access token as "Authorization: Bearer <token>".',
  malformedJson: 'The request body is not valid JSON.',
  malformedUrl: 'The URL is not valid.',
  badHost: 'The request must have one Host header.',
  unknownExpectation: 'Only "Expect: 100-continue" is supported.',
  malformedHttp: 'The request is not valid HTTP.',
  headersTooLarge: 'The request headers are too large.',
  requestTimeout: 'The request took too long to arrive.',
  malformedUtf8: 'The request body is not valid UTF-8.',
  impossibleValue: 'A value in the request contains NUL or is out of range.',
  largeBodyTooDeep: 'The request body is nested too deeply: at most 100 levels are allowed.',
  largeBodyTooManyValues: 'The request body has too many values: at most 500,000 are allowed. Send it in parts.',
  bodyTooLarge: 'The request body is larger than this route allows.',
  unsupportedMediaType: 'The request body must be sent as application/json.',
  encodedBody: 'The request body must be sent as it is, without content-encoding.',
  webhookNotFound: 'There is no webhook with this id.',
  deliveryNotFound: 'This webhook has no delivery with this id.',
  noDelivery: 'There is no delivery with this id.',
  eventNotFound: 'There is no event with this id.',
  tokenNotFound: 'There is no access token with this id.',
  tooManyTokens: 'This user has 100 live access tokens, the maximum per user. Revoke one first.',
  adminReserved: 'The user admin belongs to BOOTSTRAP_TOKEN: only a token of admin manages tokens of admin.',
  expiryPast: 'expiresAt must be in the future.',
  accountNotFound: 'There is no account with this id.',
  notAPushAccount:
    'The service reads the followers of this account itself. Lists can be pushed only to accounts of the provider push.',
  tooManyAccounts: 'You have 20 accounts, the maximum per user. Delete one first.',
  testInFlight: 'A test of this webhook is still running. Wait for its outcome.',
  testNotRedelivered: 'Tests cannot be redelivered. Send another test instead.',
  kindStays: 'The kind of a webhook cannot be changed. Create another webhook.',
  badAcknowledgement:
    'The request body must be a JSON object with succeeded and failed, which list 1 to 100 different leases in total.',
  notPulled: 'Messages can be leased only from pull webhooks. This one receives its events at its url.',
  notPushed: 'Pull webhooks have no URL to test.',
  tooManyConsumers:
    'Too many waiting requests (limits: 10 per webhook, 20 per user, 200 in total). Try again in a second.',
  webhookInactive: 'This webhook is inactive. Set active to true first.',
  webhookStopping:
    'This webhook was switched off, and its waiting deliveries are still being canceled. Try again in a few seconds.',
  eventPastRetention: 'The event of this delivery is past retention and cannot be sent again.',
  attemptPending: 'An attempt of this event to this webhook is still pending. Wait for its outcome.',
  recoveryRunning: 'A recovery of this webhook is still running. Wait until its status is done.',
  recoveryNotFound: 'This webhook has no recovery with this id.',
  sinceInFuture: 'since is in the future: there is nothing to recover yet.',
  untilBeforeSince: 'until must be later than since.',
  idempotencyKeyMismatch: 'The header Idempotency-Key and the field idempotencyKey differ. Send only one of them.',
  severalIdempotencyKeys: 'The header Idempotency-Key may be sent only once.',
  bodyWithPrototype: 'The request body must have no object named constructor with a member prototype.',
  nullBody: 'The request body must be a JSON object, not null.',
  badPublishRequest: 'The request body must be a JSON object with event and data.',
  badPreview: 'The request body must be a JSON object that names an event: eventId, or event and data.',
  badBatch:
    'The request body must be a JSON object with events: a list of 1 to 100 events, each as POST /api/events accepts it.',
  badEventType: 'The request body must be a JSON object with description, and optionally schema and example.',
  badApplication: BAD_APPLICATION,
  eventTypeNotFound: 'There is no event type with this name.',
  tooManyEventTypes: 'At most 500 event types are allowed. Delete one first.',
  badTime: 'must be an ISO 8601 time such as 2026-01-15T09:30:00Z or 2026-01-15T10:30:00+01:00',
  badCursor: 'The cursor is not valid for this list: use the nextCursor of the previous page with the same filters.',
  badChangeCursor:
    'changedAfter is not a cursor of this list from the last 5 minutes: read the list again, and begin with changedAfter=now.',
  stateAlone: 'state cannot be combined with status, givenUp or changedAfter.',
  cursorWithChanges: 'cursor and changedAfter cannot be combined.',
  waitWithoutChanges: 'waitSeconds requires changedAfter.',
  limitWithoutChanges: 'limit must be a whole number from 1 to 250, or to 1000 with changedAfter.',
  tooManyWaiting: 'Too many waiting requests (limits: 5 per user, 200 in total). Try again in a second.',
  linkManagesTokens: 'A link for another user cannot have tokens:manage, users:manage or event-types:manage.',
  badCode: 'This link was already used or has expired. Open the console again from where you came.',
  userErased: 'This user is being erased. Wait until the status of the erasure is done.',
  userNotErasable: 'admin and the user of QUEUE_EVENTS_USER cannot be erased.',
  confirmMismatch: 'confirm must be the userId of the path.',
  erasureNotFound: 'There is no erasure with this id.',
  eraseOutsideSessions: 'Links and sessions cannot have users:erase. Use an access token.',
  notASession: 'This token is not a console session. Revoke it with DELETE /api/tokens/:id.',
  sessionOfSession: 'A session cannot create another session. Use the token that the session was created with.',
  consoleNotBuilt: 'The pages of the console are not part of this build. Everything else works.',
  noTryReceivers: 'Test receivers are available only with the embedded PostgreSQL, and a loopback HOST or LOCAL=true.',
  tryReceiverNotFound: 'There is no test receiver with this id, or it has expired.',
  tooManyTryReceivers: '20 users have a test receiver, the maximum. Wait for one to expire.',
  weakEtag:
    'if-match has a weak etag (W/"…"), which never matches: a proxy that compresses answers has made it weak. Turn compression ' +
    'off for /api, or send the etag of the webhook itself.',
  preconditionFailed: 'The webhook was changed since the version that if-match names. Read it again.',
  webhookExists: 'The webhook already exists, in a version that if-none-match excludes.',
  broadcastRefused: 'This token lacks the scope events:broadcast, which is required to publish for other users.',
} as const;

export const messageFor = {
  ...publicationMessageFor,
  tooMany: (what: string, seconds: number) =>
    `Too many ${what}. Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
  patchEmpty: (fields: readonly string[]) =>
    `Name at least one field to change: ${fields.slice(0, -1).join(', ')} or ${fields.at(-1)}.`,
  missingScope: (scope: string) => `This token lacks the scope ${scope}.`,
  scopeNotHeld: (scope: string) => `This token lacks the scope ${scope}, so it cannot grant it.`,
  tokenOutlives: (at: string) => `A token cannot outlive the token that creates it: set expiresAt to ${at} or earlier.`,
  notAnId: (text: string) => `${JSON.stringify(text.slice(0, 64))} is not an id: ids are UUIDs.`,
  sessionOutlives: (at: string) =>
    `A session cannot outlive the token that creates its link: omit expiresInSeconds, or let the session end by ${at}.`,
  noMethod: (method: string, path: string, methods: readonly string[]) =>
    `${path} has no method ${method}: it has ${methods.join(', ')}.`,
  bodyTooDeep: (what: string) => `${what} is nested too deeply: at most 16 levels are allowed.`,
  bodyTooManyValues: (what: string) => `${what} has too many values: at most 1,000 are allowed.`,
  reservedEvent: (name: string) => `${name} is reserved: only the service itself publishes webhook.* events.`,
  eventTypeTaken: (name: string, owner: string) => `${name} cannot be declared or changed here: ${owner}.`,
  eventTypeOwned: (application: string) =>
    `The application ${application} belongs to another user: use a token of that user, or one with the scope users:manage.`,
  eventTypeWithoutOwner: (name: string) =>
    `${name} was declared through the database or by version 0.2: only a token with the scope users:manage changes it.`,
  eventTypeExists: (name: string) => `An event type named ${name} already exists. Change it with PUT.`,
  eventTypeTwin: (name: string, twin: string) =>
    `${name} differs from the event type ${twin} only in case. Use that one, or another name.`,
  eventTypeDiffers: (name: string) => `${name} has another schema. Add ?force=true to replace it.`,
  badEventName: (name: string, problem: string) => `name ${JSON.stringify(name.slice(0, 128))} ${problem}`,
  tooManySteps: (count: number, max: number) =>
    `That is ${count} steps, and at most ${max} are allowed: choose a longer step or a shorter time span.`,
  externalIdTaken: (externalId: string) =>
    `Another webhook of yours has the externalId ${externalId}. Choose another, or change that webhook.`,
  headersBoundToOrigin: (names: readonly string[]) =>
    `The headers ${names.join(', ')} are only for the origin of the current url: set each again, or to null, in the same request.`,
  rotationRunning: (endsAt: string) =>
    `A rotation of the secret overlaps until ${endsAt}: wait, or set force to true, which ends the older secret at once.`,
  tooManyWebhooks: (max: number) => `You have ${max} webhooks, the maximum per user. Delete one first.`,
};

export const unknownField = (field: string): FieldError => ({
  field,
  code: 'unknown_field',
  message: `${field} is not a known field`,
});

export const noRoute = (method: string, path: string): ApiError =>
  new ApiError('route_not_found', `There is no route ${method} ${path}.`);
