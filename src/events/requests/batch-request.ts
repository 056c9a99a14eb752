import { ApiError } from '../../infrastructure/errors/api-error';
import { messageFor, MESSAGES } from '../../infrastructure/errors/messages';

/** Maximum number of events that one request may publish. */
export const MAX_EVENTS = 100;

const MAX_ERRORS = 10;
const ABOUT_A_FIELD = /^(event|data|idempotencyKey|userId)[ .]|[^.]$/;

/** Returns the number of events that a body contains, 1 to 100, whatever its shape. The publishing limit counts this number. */
export function countOf(body: unknown): number {
  const events = (body as { events?: unknown } | null | undefined)?.events;
  return Array.isArray(events) ? Math.min(Math.max(events.length, 1), MAX_EVENTS) : 1;
}

/**
 * Returns the events in the body of a batch, as they were sent.
 * @throws ApiError 400 that lists every error
 */
export function parseBatchRequest(body: unknown): unknown[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new ApiError(400, MESSAGES.badBatch);
  const { events, ...others } = body as Record<string, unknown>;
  const sized = Array.isArray(events) && events.length >= 1 && events.length <= MAX_EVENTS;
  const problems = [...Object.keys(others).map(messageFor.unknownField), ...(sized ? [] : [MESSAGES.badBatch])];
  if (problems.length > 0) throw new ApiError(400, problems.join('; '));
  return events as unknown[];
}

/**
 * Applies `action` to every event of a batch. The errors of all events become one error, each with the position of its event:
 * `events[3].data must be a JSON object`. It lists at most ten errors, all with the status of the first one.
 * @throws ApiError with the status of the first error
 */
export function forEachEvent<In, Out>(events: readonly In[], action: (event: In) => Out): Out[] {
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
  const alike = errors.filter(({ error }) => error.status === first.error.status).slice(0, MAX_ERRORS);
  throw new ApiError(first.error.status, alike.map(({ index, error }) => placed(index, error.message)).join('; '));
}

/**
 * Returns the message with the position of its event, followed by a dot when the message begins with a field's name, otherwise by
 * a colon.
 */
export function placed(index: number, message: string): string {
  const at = (one: string) => `events[${index}]${ABOUT_A_FIELD.test(one) ? '.' : ': '}${one}`;
  return message.split('; ').map(at).join('; ');
}
