import type { FieldError } from 'webhook-notification/catalogue';
import { ApiError, invalid } from '../../infrastructure/errors/api-error';
import { MESSAGES, unknownField } from '../../infrastructure/errors/messages';
import { idOf } from '../../infrastructure/validation/uuid';
import { type EventFilter, parseFilter } from '../../webhooks/filter/event-filter';

/** The body of `POST /api/filter-checks`: a filter, and a stored event or one that the body contains. */
export type FilterCheck = { filter: EventFilter | null } & (
  { eventId: string; event?: undefined } | { event: string; data: object; eventId?: undefined }
);

const FIELDS = ['filter', 'event', 'data', 'eventId'];

/**
 * Parses the body of `POST /api/filter-checks`. It is not a DTO because class-transformer must not touch `filter` and `data`.
 * @throws ApiError 400 that lists every error
 */
export function parseFilterCheck(body: unknown): FilterCheck {
  if (!isObject(body)) throw invalid('body', MESSAGES.badFilterCheck);
  const verdict = Object.hasOwn(body, 'filter') ? parseFilter(body.filter) : REQUIRED;
  const errors = [
    ...Object.keys(body)
      .filter((field) => !FIELDS.includes(field))
      .map(unknownField),
    ...(verdict.ok ? [] : verdict.errors),
    ...eventErrors(body),
  ];
  if (!verdict.ok || errors.length > 0) throw ApiError.invalid(...errors);
  const { filter } = verdict;
  if (body.eventId !== undefined) return { filter, eventId: idOf('eventId', body.eventId as string) };
  return { filter, event: body.event as string, data: body.data as object };
}

const error = (field: string, code: FieldError['code'], rule: string): FieldError => ({
  field,
  code,
  message: `${field} ${rule}`,
});
const REQUIRED = {
  ok: false,
  errors: [error('filter', 'required', 'must be an object of conditions, or null')],
} as const;

function eventErrors({ event, data, eventId }: Record<string, unknown>): FieldError[] {
  if (eventId !== undefined) {
    if (event !== undefined || data !== undefined) return [error('eventId', 'invalid', MESSAGES.eventIdAlone)];
    if (typeof eventId !== 'string') return [error('eventId', 'invalid', 'must be the id of an event')];
    return [];
  }
  return [
    ...(typeof event === 'string' ? [] : [error('event', codeOf(event), 'must be the name of an event')]),
    ...(isObject(data) ? [] : [error('data', codeOf(data), 'must be a JSON object')]),
  ];
}

const codeOf = (value: unknown) => (value === undefined ? 'required' : 'invalid');

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
