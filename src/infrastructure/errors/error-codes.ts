interface ErrorMeaning {
  status: 400 | 401 | 403 | 404 | 405 | 408 | 409 | 412 | 413 | 415 | 417 | 429 | 431 | 500 | 503;
  meaning: string;
  remedy: string;
}

/**
 * The `code` of every error of the API: one for each cause that a client handles differently. A code is never renamed.
 * `npm run docs:write` writes them to `docs/errors.md`.
 */
export const ERROR_CODES = {
  validation_failed: {
    status: 400,
    meaning: 'A value in the path, query, headers or body is invalid.',
    remedy: 'correct the fields that `details` lists',
  },
  cursor_invalid: {
    status: 400,
    meaning: '`cursor` is from another list or filter, or `changedAfter` is older than 5 minutes or a failover.',
    remedy: 'read the list again without it; begin with `changedAfter=now`',
  },
  malformed_json: {
    status: 400,
    meaning: 'The body is not JSON in UTF-8.',
    remedy: 'check quotes and commas; in a shell, put single quotes around the body',
  },
  malformed_request: {
    status: 400,
    meaning: 'The request is not valid HTTP, its URL cannot be decoded, or it does not have exactly one `Host` header.',
    remedy: 'use an HTTP client, and percent-encode the path',
  },
  unauthenticated: {
    status: 401,
    meaning: 'The access token is missing, malformed, unknown, expired or revoked, or there are two of them.',
    remedy: 'send `Authorization: Bearer <token>`; create a token with `npx webhooks token create`',
  },
  link_invalid: {
    status: 401,
    meaning: 'The console link was already used, or is older than 5 minutes.',
    remedy: 'get a new link',
  },
  scope_missing: {
    status: 403,
    meaning: 'The token lacks the scope that the message names, and therefore cannot grant it either.',
    remedy: 'use a token with that scope',
  },
  scope_not_allowed: {
    status: 403,
    meaning: 'A console link for another user cannot have this scope.',
    remedy: 'omit `tokens:manage`, `users:manage` and `event-types:manage`',
  },
  admin_reserved: {
    status: 403,
    meaning: 'Only a token of `admin` manages tokens of `admin`.',
    remedy: 'use `BOOTSTRAP_TOKEN`, or name another user',
  },
  not_found: {
    status: 404,
    meaning: 'It does not exist, was deleted, or belongs to another user.',
    remedy: 'use an id from a list of the same user',
  },
  route_not_found: {
    status: 404,
    meaning: 'No route has this path, or one of its segments has more than 128 characters.',
    remedy: 'compare the path with `/docs`',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The path does not have this method.',
    remedy: 'use a method that the header `allow` lists',
  },
  request_timeout: {
    status: 408,
    meaning: 'The request took more than 30 s to arrive.',
    remedy: 'send it again',
  },
  external_id_taken: {
    status: 409,
    meaning: 'Another webhook of the user has this `externalId`.',
    remedy: 'choose another one, or change that webhook with `PUT /api/webhooks/external/:externalId`',
  },
  headers_bound_to_origin: {
    status: 409,
    meaning: 'The headers of the webhook were set for another origin than that of the new `url`.',
    remedy: 'set each header that the message names again, or to null, in the same request',
  },
  webhook_limit_reached: {
    status: 409,
    meaning: 'The user has `MAX_WEBHOOKS_PER_USER` webhooks.',
    remedy: 'delete a webhook, or ask the operator to raise the limit',
  },
  token_limit_reached: {
    status: 409,
    meaning: 'The user has 100 live access tokens.',
    remedy: 'revoke a token',
  },
  account_limit_reached: {
    status: 409,
    meaning: 'The user has 20 accounts.',
    remedy: 'delete an account',
  },
  event_type_limit_reached: {
    status: 409,
    meaning: 'There are 500 event types.',
    remedy: 'delete an event type',
  },
  test_receiver_limit_reached: {
    status: 409,
    meaning: '20 users have a test receiver.',
    remedy: 'wait until one expires: each lasts an hour',
  },
  test_running: {
    status: 409,
    meaning: 'Another test of this webhook is still running.',
    remedy: 'wait for its outcome',
  },
  test_not_redeliverable: {
    status: 409,
    meaning: 'Tests cannot be redelivered.',
    remedy: 'send another test',
  },
  kind_mismatch: {
    status: 409,
    meaning:
      'The webhook is of the other `kind`: only push webhooks can be tested, and only pull webhooks leased from.',
    remedy: 'use another webhook: the kind of a webhook cannot be changed',
  },
  webhook_inactive: {
    status: 409,
    meaning: 'The webhook is inactive.',
    remedy: 'set `active` to true first',
  },
  webhook_stopping: {
    status: 409,
    meaning: 'The webhook was disabled, and its pending deliveries are still being canceled.',
    remedy: 'repeat the request until it succeeds; several thousand are canceled a second',
  },
  event_expired: {
    status: 409,
    meaning: 'The event of this delivery is past retention.',
    remedy: 'publish a new event',
  },
  delivery_pending: {
    status: 409,
    meaning: 'An attempt of this event to this webhook is still pending.',
    remedy: 'wait for its outcome',
  },
  recovery_running: {
    status: 409,
    meaning: 'A recovery of this webhook is still running.',
    remedy: 'wait until its `status` is `done`',
  },
  idempotency_key_reused: {
    status: 409,
    meaning: 'The idempotency key was already used for another event, audience or data.',
    remedy: 'use a new key for each event',
  },
  event_type_exists: {
    status: 409,
    meaning: 'An event type with this name exists.',
    remedy: 'change it with `PUT`',
  },
  event_type_differs: {
    status: 409,
    meaning: 'The event type has another schema, on which receivers may rely.',
    remedy: 'pass `?force=true` to replace it',
  },
  event_type_taken: {
    status: 409,
    meaning: 'The name belongs to the source or the application that the message names.',
    remedy: 'use another name, or change the type where it was declared',
  },
  event_type_owned: {
    status: 409,
    meaning: 'The application of this event type belongs to another user.',
    remedy: 'use a token of that user, or one with `users:manage`',
  },
  user_erased: {
    status: 409,
    meaning:
      'The user is being erased: events for them, and new tokens and links, are refused until the erasure is done.',
    remedy: 'wait until the status of the erasure is `done`; then the id is free again',
  },
  user_not_erasable: {
    status: 409,
    meaning: 'The user is `admin`, or the user of `QUEUE_EVENTS_USER`.',
    remedy: 'name another user',
  },
  not_a_session: {
    status: 409,
    meaning: 'The token is not a console session.',
    remedy: 'revoke it with `DELETE /api/tokens/:id`',
  },
  session_of_session: {
    status: 409,
    meaning: 'A console session cannot create another one.',
    remedy: 'use the token that the session was created with',
  },
  not_a_push_account: {
    status: 409,
    meaning: 'The service reads the followers of this account itself.',
    remedy: 'push followers only to accounts with the provider `push`',
  },
  precondition_failed: {
    status: 412,
    meaning: 'The webhook is no longer in the version that `if-match` names.',
    remedy: 'read it again, and repeat the change with its new `etag`',
  },
  body_too_large: {
    status: 413,
    meaning: 'The body, or the `data` of an event, is larger than this route allows.',
    remedy: 'send less; the operator can raise `EVENT_MAX_BYTES`',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body is not `application/json`.',
    remedy: 'send `Content-Type: application/json`',
  },
  expectation_unknown: {
    status: 417,
    meaning: 'Only `Expect: 100-continue` is supported.',
    remedy: 'omit the header',
  },
  rate_limited: {
    status: 429,
    meaning: 'Too many requests, events, tests, failed authentications or waiting requests.',
    remedy: 'wait for the seconds that `retry-after` gives',
  },
  headers_too_large: {
    status: 431,
    meaning: 'The headers have more than 16 KiB.',
    remedy: 'send fewer or smaller headers',
  },
  internal_error: {
    status: 500,
    meaning: 'An error in the service.',
    remedy: 'retry; report it with the `requestId`, which its log contains',
  },
  unavailable: {
    status: 503,
    meaning: 'The database or the identity provider is unavailable, or the database is read-only.',
    remedy: 'send it again after the seconds that `retry-after` gives; read `/health/ready`',
  },
  busy: {
    status: 503,
    meaning: 'Another transaction has held a row or lock that this request needs for a second.',
    remedy: 'send it again after the seconds that `retry-after` gives',
  },
  console_not_built: {
    status: 503,
    meaning: 'This build does not contain the pages of the console.',
    remedy: 'run `npm run build`',
  },
} as const satisfies Record<string, ErrorMeaning>;

export type ErrorCode = keyof typeof ERROR_CODES;
