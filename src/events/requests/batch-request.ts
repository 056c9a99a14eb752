import { ApiError } from '../../plumbing/errors/api-error';
import { messageFor, MESSAGES } from '../../plumbing/errors/messages';

/** The most events that one request may publish. */
export const MAX_EVENTS = 100;

const MAX_FAULTS = 10;
const ABOUT_A_FIELD = /^(event|data|idempotencyKey|userId)[ .]|[^.]$/;

/** How many events a body asks for, 1 to 100, whatever its shape. The publishing limit counts this. */
export function countOf(body: unknown): number {
  const events = (body as { events?: unknown } | null | undefined)?.events;
  return Array.isArray(events) ? Math.min(Math.max(events.length, 1), MAX_EVENTS) : 1;
}

/**
 * The events in the body of a batch, as they were sent.
 * @throws ApiError 400 that names every fault
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
 * Applies `action` to every event of a batch. The faults of all events become one error, each fault with the place of
 * its event: `events[3].data must be a JSON object`. It names at most ten faults, all with the status of the first one.
 * @throws ApiError the status of the first fault
 */
export function forEachEvent<In, Out>(events: readonly In[], action: (event: In) => Out): Out[] {
  const faults: { index: number; error: ApiError }[] = [];
  const results = events.flatMap((event, index) => {
    try {
      return [action(event)];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      faults.push({ index, error });
      return [];
    }
  });
  const [first] = faults;
  if (!first) return results;
  const alike = faults.filter(({ error }) => error.status === first.error.status).slice(0, MAX_FAULTS);
  throw new ApiError(first.error.status, alike.map(({ index, error }) => placed(index, error.message)).join('; '));
}

/** The message with the place of its event: after a dot when it begins with a field's name, otherwise after a colon. */
export function placed(index: number, message: string): string {
  const at = (fault: string) => `events[${index}]${ABOUT_A_FIELD.test(fault) ? '.' : ': '}${fault}`;
  return message.split('; ').map(at).join('; ');
}
