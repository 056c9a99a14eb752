interface ErrorMeaning {
  status: 400 | 401 | 403 | 404 | 405 | 408 | 409 | 412 | 413 | 415 | 417 | 429 | 431 | 500 | 503;
  meaning: string;
  remedy: string;
}

const of = (status: ErrorMeaning['status'], meaning: string, remedy: string): ErrorMeaning => ({
  status,
  meaning,
  remedy,
});

/**
 * The `code` of every error of the API: one for each cause that a client handles differently. A code is never renamed.
 * `npm run docs:write` writes them to `docs/errors.md`.
 */
export const ERROR_CODES = {
  validation_failed: of(
    400,
    'A value in the path, query, headers or body is invalid.',
    'correct the fields that `details` lists',
  ),
  cursor_invalid: of(
    400,
    '`cursor` is from another list or filter, or `changedAfter` is older than 5 minutes or a failover.',
    'read the list again without it; begin with `changedAfter=now`',
  ),
  malformed_json: of(
    400,
    'The body is not JSON in UTF-8.',
    'check quotes and commas; in a shell, put single quotes around the body',
  ),
  malformed_request: of(
    400,
    'The request is not valid HTTP, its URL cannot be decoded, or it does not have exactly one `Host` header.',
    'use an HTTP client, and percent-encode the path',
  ),
  unauthenticated: of(
    401,
    'The access token is missing, malformed, unknown, expired or revoked, or there are two of them.',
    'send `Authorization: Bearer <token>`; create a token with `npx webhooks token create`',
  ),
  link_invalid: of(401, 'The console link was already used, or is older than 5 minutes.', 'get a new link'),
  scope_missing: of(
    403,
    'The token lacks the scope that the message names, and therefore cannot grant it either.',
    'use a token with that scope',
  ),
  scope_not_allowed: of(
    403,
    'A console link for another user cannot have this scope.',
    'omit `tokens:manage`, `users:manage` and `event-types:manage`',
  ),
  admin_reserved: of(
    403,
    'Only a token of `admin` manages tokens of `admin`.',
    'use `BOOTSTRAP_TOKEN`, or name another user',
  ),
  not_found: of(
    404,
    'It does not exist, was deleted, or belongs to another user.',
    'use an id from a list of the same user',
  ),
  route_not_found: of(
    404,
    'No route has this path, or one of its segments has more than 128 characters.',
    'compare the path with `/docs`',
  ),
  method_not_allowed: of(405, 'The path does not have this method.', 'use a method that the header `allow` lists'),
  request_timeout: of(408, 'The request took more than 30 s to arrive.', 'send it again'),
  external_id_taken: of(
    409,
    'Another webhook of the user has this `externalId`.',
    'choose another one, or change that webhook with `PUT /api/webhooks/external/:externalId`',
  ),
  headers_bound_to_origin: of(
    409,
    'The headers of the webhook were set for another origin than that of the new `url`.',
    'set each header that the message names again, or to null, in the same request',
  ),
  webhook_limit_reached: of(
    409,
    'The user has `MAX_WEBHOOKS_PER_USER` webhooks.',
    'delete a webhook, or ask the operator to raise the limit',
  ),
  token_limit_reached: of(409, 'The user has 100 live access tokens.', 'revoke a token'),
  account_limit_reached: of(409, 'The user has 20 accounts.', 'delete an account'),
  event_type_limit_reached: of(409, 'There are 500 event types.', 'delete an event type'),
  test_receiver_limit_reached: of(409, '20 users have a test receiver.', 'wait until one expires: each lasts an hour'),
  test_running: of(409, 'Another test of this webhook is still running.', 'wait for its outcome'),
  test_not_redeliverable: of(409, 'Tests cannot be redelivered.', 'send another test'),
  kind_mismatch: of(
    409,
    'The webhook is of the other `kind`: only push webhooks can be tested, and only pull webhooks leased from.',
    'use another webhook: the kind of a webhook cannot be changed',
  ),
  webhook_inactive: of(409, 'The webhook is inactive.', 'set `active` to true first'),
  rotation_running: of(
    409,
    'An earlier rotation still overlaps: deliveries are signed with both secrets until then.',
    'wait until the time that `error` names, or send `"force": true`, which ends the older secret at once',
  ),
  webhook_stopping: of(
    409,
    'The webhook was disabled, and its pending deliveries are still being canceled.',
    'repeat the request until it succeeds; several thousand are canceled a second',
  ),
  event_expired: of(409, 'The event of this delivery is past retention.', 'publish a new event'),
  delivery_pending: of(409, 'An attempt of this event to this webhook is still pending.', 'wait for its outcome'),
  recovery_running: of(409, 'A recovery of this webhook is still running.', 'wait until its `status` is `done`'),
  idempotency_key_reused: of(
    409,
    'The idempotency key was already used for another event, audience, subject or data.',
    'use a new key for each event',
  ),
  event_type_exists: of(
    409,
    'An event type with this name exists, or with one that differs only in case.',
    'change it with `PUT`, or use another name',
  ),
  event_type_differs: of(
    409,
    'The event type has another schema, on which receivers may rely.',
    'pass `?force=true` to replace it',
  ),
  event_type_taken: of(
    409,
    'The name belongs to the source or the application that the message names.',
    'use another name, or change the type where it was declared',
  ),
  event_type_owned: of(
    409,
    'The application of this event type belongs to another user.',
    'use a token of that user, or one with `users:manage`',
  ),
  user_erased: of(
    409,
    'The user is being erased: events for them, and new tokens and links, are refused until the erasure is done.',
    'wait until the status of the erasure is `done`; then the id is free again',
  ),
  user_not_erasable: of(409, 'The user is `admin`, or the user of `QUEUE_EVENTS_USER`.', 'name another user'),
  not_a_session: of(409, 'The token is not a console session.', 'revoke it with `DELETE /api/tokens/:id`'),
  session_of_session: of(
    409,
    'A console session cannot create another one.',
    'use the token that the session was created with',
  ),
  not_a_push_account: of(
    409,
    'The service reads the followers of this account itself.',
    'push followers only to accounts with the provider `push`',
  ),
  precondition_failed: of(
    412,
    'The webhook is no longer in the version that `if-match` names.',
    'read it again, and repeat the change with its new `etag`',
  ),
  body_too_large: of(
    413,
    'The body, or the `data` of an event, is larger than this route allows.',
    'send less; the operator can raise `EVENT_MAX_BYTES`',
  ),
  unsupported_media_type: of(
    415,
    'The body is not `application/json`, or it is compressed.',
    'send `Content-Type: application/json`, and no `Content-Encoding`',
  ),
  expectation_unknown: of(417, 'Only `Expect: 100-continue` is supported.', 'omit the header'),
  rate_limited: of(
    429,
    'Too many requests, events, tests, failed authentications or waiting requests.',
    'wait for the seconds that `retry-after` gives',
  ),
  headers_too_large: of(431, 'The headers have more than 16 KiB.', 'send fewer or smaller headers'),
  internal_error: of(500, 'An error in the service.', 'retry; report it with the `requestId`, which its log contains'),
  unavailable: of(
    503,
    'The database or the identity provider is unavailable, or the database is read-only.',
    'send it again after the seconds that `retry-after` gives; read `/health/ready`',
  ),
  busy: of(
    503,
    'Another transaction has held a row or lock that this request needs for a second.',
    'send it again after the seconds that `retry-after` gives',
  ),
  console_not_built: of(503, 'This build does not contain the pages of the console.', 'run `npm run build`'),
};

export type ErrorCode = keyof typeof ERROR_CODES;
