import { type FieldError, isIdempotencyKey, isSubject, isUserId, messageOf } from 'webhook-notification/catalogue';
import type { HasOwnShare } from '../../auth/route.decorator';
import { ApiError, invalid, MESSAGES, unknownField } from '../../infrastructure/errors/api-error';
import type { BodyParser } from '../../infrastructure/validation/api-request.decorator';
import type { Principal } from '../../auth/access-token';

/**
 * Returns the user whose webhooks receive an event published over HTTP; null for all users. It is the publisher, unless the
 * request names another user or null, which requires `events:broadcast`.
 */
export function audienceOf(user: Principal, wanted: string | null | undefined): string | null {
  if (wanted === undefined || wanted === user.userId) return user.userId;
  if (!user.scopes.includes('events:broadcast')) throw new ApiError('scope_missing', MESSAGES.broadcastRefused);
  return wanted;
}

/** The body of `POST /api/events`. `userId` is undefined when the body does not contain it. */
export interface PublishRequest {
  event: string;
  data: unknown;
  idempotencyKey?: string;
  userId?: string | null;
  subject?: string | null;
}

/** Whether a request has no idempotency key. */
export const isWithoutKey: HasOwnShare = ({ headers, body }) =>
  !Object.hasOwn(headers, 'idempotency-key') && !(body instanceof Object && Object.hasOwn(body, 'idempotencyKey'));

const HEADER = 'header.idempotency-key';
const FIELDS = ['event', 'data', 'idempotencyKey', 'userId', 'subject'];

/** Parses the body of `POST /api/events` with its header `Idempotency-Key`. */
export const parsePublish: BodyParser = (body, { raw }) =>
  parsePublishRequest(body, raw.headersDistinct['idempotency-key']);

/**
 * Parses the body of a publish request. It is not a DTO because class-transformer must not touch `data`: a key such as
 * `constructor`, or deep nesting, breaks it.
 * @param headerKeys values of the header `Idempotency-Key`
 */
export function parsePublishRequest(body: unknown, headerKeys: readonly string[] = []): PublishRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid('body', MESSAGES.badPublishRequest);
  const request = body as Record<string, unknown>;
  const key = keyOf(request.idempotencyKey, headerKeys);
  const errors = [
    ...Object.keys(request)
      .filter((field) => !FIELDS.includes(field))
      .map(unknownField),
    ...(typeof request.event === 'string' ? [] : [fieldError('event', 'event must be a string', request.event)]),
    ...(Object.hasOwn(request, 'data') ? [] : [fieldError('data', 'data must be a JSON object', undefined)]),
    ...(typeof key === 'object' ? [key] : []),
    ...(isAudience(request.userId) ? [] : [fieldError('userId', MESSAGES.badUserId, request.userId)]),
    ...(request.subject == null || isSubject(request.subject)
      ? []
      : [fieldError('subject', MESSAGES.badSubject, request.subject)]),
  ];
  if (errors.length > 0) throw ApiError.invalid(...errors);
  const { event, data, userId, subject } = request as unknown as PublishRequest;
  return { event, data, userId, subject, idempotencyKey: key as string | undefined };
}

const fieldError = (field: string, message: string, value: unknown): FieldError => ({
  field,
  code: value === undefined ? 'required' : 'invalid',
  message,
});

function keyOf(key: unknown, headerKeys: readonly string[]): string | undefined | FieldError {
  const [headerKey, ...more] = headerKeys;
  if (more.length > 0) return fieldError(HEADER, MESSAGES.severalIdempotencyKeys, headerKey);
  if (key !== undefined && !isIdempotencyKey(key)) return fieldError('idempotencyKey', MESSAGES.badIdempotencyKey, key);
  if (headerKey === undefined) return key;
  if (!isIdempotencyKey(headerKey)) return fieldError(HEADER, MESSAGES.badIdempotencyKey, headerKey);
  if (key === undefined || key === headerKey) return headerKey;
  return fieldError('idempotencyKey', MESSAGES.idempotencyKeyMismatch, key);
}

const isAudience = (userId: unknown): boolean =>
  userId === undefined || userId === null || (typeof userId === 'string' && isUserId(userId));

export const MAX_EVENTS = 100;

/** Maximum number of errors in the data of events that a response lists. */
const MAX_ERRORS = 10;
/** The same for all other fields of a batch. */
const MAX_FIELD_ERRORS = 20;
const ABOUT_A_FIELD = /^(event|data|idempotencyKey|userId|subject)[ .]|[^.]$/;

/** Returns the number of events that a body contains, 1 to 100, whatever its shape. The publishing limit counts this number. */
export function countOf(body: unknown): number {
  const events = (body as { events?: unknown } | null | undefined)?.events;
  return Array.isArray(events) ? Math.min(Math.max(events.length, 1), MAX_EVENTS) : 1;
}

export function parseBatchRequest(body: unknown): PublishRequest[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('body', MESSAGES.badBatch);
  const { events, ...others } = body as Record<string, unknown>;
  const unknown = Object.keys(others).map(unknownField);
  if (!Array.isArray(events) || events.length < 1 || events.length > MAX_EVENTS)
    throw ApiError.invalid(...unknown, { field: 'events', code: 'invalid', message: MESSAGES.badBatch });
  if (unknown.length > 0) throw ApiError.invalid(...unknown);
  return forEachEvent(events, (event) => parsePublishRequest(event), MAX_FIELD_ERRORS);
}

/**
 * Applies `action` to every event of a batch. The errors of all events become one error, each with the position of its event:
 * `events[3].data must be a JSON object`. It lists at most ten errors, or `max`, all with the code of the first one.
 */
export function forEachEvent<In, Out>(events: readonly In[], action: (event: In) => Out, max = MAX_ERRORS): Out[] {
  const errors: { index: number; error: ApiError }[] = [];
  const results = events.flatMap((event, index) => {
    try {
      return [action(event)];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      errors.push({ index, error });
      return [];
    }
  });
  const [first] = errors;
  if (!first) return results;
  const { code, details } = first.error;
  const alike = errors.filter(({ error }) => error.code === code);
  const placedErrors = alike.flatMap(({ index, error }) => placedIn(index, error)).slice(0, max);
  throw new ApiError(code, messageOf(placedErrors), details && { details: placedErrors });
}

function placedIn(index: number, { message, details }: ApiError): FieldError[] {
  const errors = details ?? [{ field: '', code: 'invalid' as const, message }];
  const at = `events[${index}]`;
  return errors.map(({ field, code, message: problem }) => ({
    field: field === 'body' ? at : `${at}.${field}`,
    code,
    message: `${at}${ABOUT_A_FIELD.test(problem) ? '.' : ': '}${problem}`,
  }));
}
