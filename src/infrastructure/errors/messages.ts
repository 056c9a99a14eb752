import {
  BAD_APPLICATION,
  type FieldError,
  PUBLICATION_MESSAGES,
  publicationMessageFor,
} from 'webhook-notification/catalogue';
import { ApiError } from './api-error';

/** All error messages that do not come from validation. */
export const MESSAGES = {
  ...PUBLICATION_MESSAGES,
  internal: 'Something went wrong on our side. Please try again; the x-request-id of this answer helps us find it.',
  unavailable: 'The service is not ready: its database does not answer. Please try again in a moment.',
  databaseReadOnly: 'The service is not ready: its database takes no writes. Please try again in a moment.',
  identityProviderUnavailable:
    'The identity provider does not answer, so this token cannot be checked. Please try again in a moment.',
  unauthenticated: 'Authentication required: send a valid access token as "Authorization: Bearer <token>".',
  malformedJson: 'The request body is not valid JSON.',
  malformedUrl: 'The URL is not valid.',
  badHost: 'The request must have one Host header.',
  unknownExpectation: 'The only expectation that is known is 100-continue.',
  malformedHttp: 'The request is not valid HTTP.',
  headersTooLarge: 'The request headers are too large.',
  requestTimeout: 'The request took too long to arrive.',
  malformedUtf8: 'The request body is not valid UTF-8.',
  impossibleValue: 'A value of the request cannot be stored or looked for: it holds NUL, or is out of all bounds.',
  largeBodyTooDeep: 'The request body is nested too deeply: 100 levels are the most.',
  largeBodyTooManyValues: 'The request body holds too many values: 500,000 are the most. Send it in parts.',
  bodyTooLarge: 'The request body is larger than this route allows.',
  unsupportedMediaType: 'The request body must be sent as application/json.',
  webhookNotFound: 'There is no webhook with this id.',
  deliveryNotFound: 'This webhook has no delivery with this id.',
  noDelivery: 'There is no delivery with this id.',
  eventNotFound: 'There is no event with this id.',
  tokenNotFound: 'There is no access token with this id.',
  tooManyTokens: 'This user has 100 live access tokens, which is the most a user may have. Revoke one first.',
  adminReserved: 'The user admin belongs to BOOTSTRAP_TOKEN: only a token of admin manages tokens of admin.',
  expiryPast: 'expiresAt must be in the future.',
  accountNotFound: 'There is no account with this id.',
  notAPushAccount: 'Only a push account takes a list: the followers of this one are read.',
  tooManyAccounts: 'You have 20 accounts, which is the most a user may have: delete one first.',
  testInFlight: 'A test of this webhook is still running. Wait for its outcome.',
  tooManyRequests: 'Too many requests within a minute. Wait as many seconds as retry-after says.',
  tooManyEvents: 'Too many events within a minute. Wait as many seconds as retry-after says.',
  tooManyTests: 'At most 30 tests within a minute. Wait as many seconds as retry-after says.',
  tooManyFailures: 'Too many failed authentications from your address. Wait as many seconds as retry-after says.',
  testNotRedelivered: 'A test is no event that could be delivered again. Send another test instead.',
  kindStays: 'This webhook is of the other kind, and a webhook keeps its kind. Create another one.',
  badAcknowledgement:
    'The request body must be a JSON object with succeeded and failed: 1 to 100 different leases together.',
  notPulled: 'The service calls the url of this webhook. Only from a webhook of kind pull can you lease.',
  notPushed: 'Consumers lease from this webhook, so there is nothing that a test could call.',
  tooManyConsumers:
    'Ten requests of this webhook, 20 of this user, or 200 of all, wait for events already. Try again in a second.',
  webhookInactive: 'This webhook is inactive. Set active to true first.',
  eventPastRetention: 'The event of this delivery is past retention and cannot be sent again.',
  attemptPending: 'An attempt of this event to this webhook is still pending. Wait for its outcome.',
  recoveryRunning: 'A recovery of this webhook is still running. Wait until its status is done.',
  recoveryNotFound: 'This webhook has no recovery with this id.',
  sinceInFuture: 'since lies in the future: there is nothing to recover yet.',
  untilBeforeSince: 'until must be later than since.',
  idempotencyKeyMismatch: 'The header Idempotency-Key and the field idempotencyKey differ. Send only one of them.',
  severalIdempotencyKeys: 'The header Idempotency-Key may be sent only once.',
  nullBody: 'The request body must be a JSON object, not null.',
  badPublishRequest: 'The request body must be a JSON object with event and data.',
  badPreview: 'The request body must be a JSON object that names an event: eventId, or event and data.',
  badBatch: 'The request body must be a JSON object with events: 1 to 100 of what POST /api/events takes.',
  badEventType: 'The request body must be a JSON object with description, and where it has them schema and example.',
  badApplication: BAD_APPLICATION,
  eventTypeNotFound: 'There is no event type with this name.',
  tooManyEventTypes: 'There are 500 event types, which is the most. Delete one first.',
  badTime: 'must be an ISO 8601 time such as 2026-01-15T09:30:00Z or 2026-01-15T10:30:00+01:00',
  badCursor: 'The cursor is not valid for this list: use the nextCursor of the previous page with the same filters.',
  badChangeCursor:
    'changedAfter is not a cursor of this list from the last 5 minutes: read the list again, and begin with changedAfter=now.',
  stateAlone: 'state does not go together with status, givenUp or changedAfter.',
  cursorWithChanges: 'cursor and changedAfter do not go together.',
  waitWithoutChanges: 'waitSeconds goes together with changedAfter.',
  limitWithoutChanges: 'limit must be a whole number from 1 to 250; with changedAfter up to 1000.',
  tooManyWaiting: 'Five requests of this user, or 200 of all, wait for changes already. Try again in a second.',
  linkManagesTokens: 'A link for another user cannot carry tokens:manage, users:manage or event-types:manage.',
  badCode: 'This link was used already, or is too old: open the console again from where you came.',
  userErased: 'This user is being erased. Wait until the status of the erasure is done.',
  userNotErasable: 'admin and the user of QUEUE_EVENTS_USER cannot be erased.',
  confirmMismatch: 'confirm must be the userId of the path.',
  erasureNotFound: 'There is no erasure with this id.',
  eraseOutsideSessions: 'No link and no session can carry users:erase: use an access token.',
  notASession: 'This token is not a session at the console. DELETE /api/tokens/:id revokes it.',
  sessionOfSession: 'A session cannot make another session. Use the token that the session was made with.',
  consoleNotBuilt: 'The pages of the console are not part of this build. Everything else works.',
  noTryReceivers: 'Test receivers require the embedded PostgreSQL, and a loopback HOST or LOCAL=true.',
  tryReceiverNotFound: 'There is no receiver with this id, or its hour is over.',
  tooManyTryReceivers: '20 users have a receiver to try with, which is the most. Wait for one to expire.',
  preconditionFailed: 'The webhook was changed since the version that if-match names. Read it again.',
  webhookExists: 'The webhook exists already, in a version that if-none-match excludes.',
  patchEmpty:
    'Name at least one field to change: url, events, secret, description, metadata, externalId, filter, format, headers, timeoutMs, retryDelaysMs, maxPerSecond, idleSeconds or active.',
  broadcastRefused: 'This token lacks the scope events:broadcast, which publishing for others or for everybody takes.',
} as const;

/** Messages that contain a value of the request. */
export const messageFor = {
  ...publicationMessageFor,
  missingScope: (scope: string) => `This token lacks the scope ${scope}.`,
  scopeNotHeld: (scope: string) => `This token lacks the scope ${scope}, so it cannot grant it.`,
  tokenOutlives: (at: string) => `A token cannot outlive the one that makes it: set expiresAt to ${at} or earlier.`,
  notAnId: (text: string) => `${JSON.stringify(text.slice(0, 64))} is not an id: ids are UUIDs.`,
  sessionOutlives: (at: string) =>
    `A session cannot outlive the token that makes its link: leave expiresInSeconds out, or let it end by ${at}.`,
  noMethod: (method: string, path: string, methods: readonly string[]) =>
    `${path} has no method ${method}: it has ${methods.join(', ')}.`,
  bodyTooDeep: (what: string) => `${what} is nested too deeply: 16 levels are the most.`,
  bodyTooManyValues: (what: string) => `${what} holds too many values: 1,000 are the most.`,
  unknownEvents: (unknown: readonly string[], known: readonly string[]) =>
    `events names nothing known: ${unknown.join(', ')}. Known are ${known.join(', ')}, prefixes such as follower.*, and *`,
  reservedEvent: (name: string) => `${name} is reserved: only the service itself publishes webhook.* events.`,
  eventTypeTaken: (name: string, owner: string) => `${name} cannot be declared or changed here: ${owner}.`,
  eventTypeOwned: (application: string) =>
    `The application ${application} belongs to another user: use a token of that user, or one with the scope users:manage.`,
  eventTypeWithoutOwner: (name: string) =>
    `${name} was declared through the database or by version 0.2: only a token with the scope users:manage changes it.`,
  eventTypeExists: (name: string) => `There is an event type named ${name} already. PUT changes it.`,
  eventTypeDiffers: (name: string) => `${name} has another schema. Add ?force=true to replace it.`,
  badEventName: (name: string, problem: string) => `name ${JSON.stringify(name.slice(0, 128))} ${problem}`,
  tooManySteps: (count: number, max: number) =>
    `That is ${count} steps, and ${max} are the most: take a longer step, or a shorter time.`,
  externalIdTaken: (externalId: string) =>
    `Another webhook of yours has the externalId ${externalId}. Choose another, or change that webhook.`,
  headersBoundToOrigin: (names: readonly string[]) =>
    `The headers ${names.join(', ')} are only for the origin of the current url: set each again, or to null, in the same request.`,
  tooManyWebhooks: (max: number) => `You have ${max} webhooks, which is the most a user may have. Delete one first.`,
};

/** Returns the error of a field that the request must not have. */
export const unknownField = (field: string): FieldError => ({
  field,
  code: 'unknown_field',
  message: `${field} is not a known field`,
});

/** Returns the error of a request to a path that no route has. */
export const noRoute = (method: string, path: string): ApiError =>
  new ApiError('route_not_found', `There is no route ${method} ${path}.`);
