import { type FieldError, messageOf } from 'webhook-notification/catalogue';
import { ApiError, invalid } from '../../infrastructure/errors/api-error';
import { MESSAGES, unknownField } from '../../infrastructure/errors/messages';
import { parsePublishRequest, type PublishRequest } from './publish-request';

export const MAX_EVENTS = 100;

/** Maximum number of errors in the data of events that a response lists. */
const MAX_ERRORS = 10;
/** The same for all other fields of a batch. */
const MAX_FIELD_ERRORS = 20;
const ABOUT_A_FIELD = /^(event|data|idempotencyKey|userId)[ .]|[^.]$/;

/** Returns the number of events that a body contains, 1 to 100, whatever its shape. The publishing limit counts this number. */
export function countOf(body: unknown): number {
  const events = (body as { events?: unknown } | null | undefined)?.events;
  return Array.isArray(events) ? Math.min(Math.max(events.length, 1), MAX_EVENTS) : 1;
}

/** Parses the body of a batch. The data of its events is left as it is. */
export function parseBatchRequest(body: unknown): PublishRequest[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('body', MESSAGES.badBatch);
  const { events, ...others } = body as Record<string, unknown>;
  const unknown = Object.keys(others).map(unknownField);
  if (!Array.isArray(events) || events.length < 1 || events.length > MAX_EVENTS) {
    throw ApiError.invalid(...unknown, { field: 'events', code: 'invalid', message: MESSAGES.badBatch });
  }
  if (unknown.length > 0) throw ApiError.invalid(...unknown);
  return forEachEvent(events, (event) => parsePublishRequest(event), MAX_FIELD_ERRORS);
}

/**
 * Applies `action` to every event of a batch. The errors of all events become one error, each with the position of its event:
 * `events[3].data must be a JSON object`. It lists at most ten errors, or `max`, all with the code of the first one.
 * @throws ApiError with the code of the first error
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
