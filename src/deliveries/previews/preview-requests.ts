import { type FieldError, invalidField, isEventName, isSubject, serialiseData } from 'webhook-notification/catalogue';
import { ApiError, invalid, MESSAGES, unknownField } from '../../infrastructure/errors/api-error';
import { idOf } from '../../infrastructure/validation/uuid';
import { type EventFilter, parseFilter } from '../../webhooks/filter/event-filter';
import { type EventFormat, FORMATS } from '../../webhooks/formats/event-format';
import { parseFieldPaths } from '../../webhooks/formats/field-paths';
import { kindErrors } from '../../webhooks/webhook-fields';

/** A stored event, or one that the request contains; `data` is JSON text. */
export type ChosenEvent = { eventId: string } | { event: string; data: string; subject: string | null };

export type FilterCheck = { filter: EventFilter | null; chosen: ChosenEvent };
/** `paths`: the fields of the data to show; null for all. */
export type FormatPreview = { format: EventFormat; paths: string[] | null; chosen: ChosenEvent };

// These bodies are not DTOs because class-transformer must not touch `filter` and `data`.

export function parseFilterCheck(body: unknown): FilterCheck {
  const { filter, fields, errors } = requestOf(body, 'filter');
  const verdict = filter === undefined ? REQUIRED : parseFilter(filter);
  const chosen = chosenEvent(fields);
  if (verdict.ok && chosen.ok && errors.length === 0) return { filter: verdict.filter, chosen: chosen.value };
  throw ApiError.invalid(...errors, ...(verdict.ok ? [] : verdict.errors), ...(chosen.ok ? [] : chosen.errors));
}

export function parseFormatPreview(body: unknown): FormatPreview {
  const { format, fields, errors } = requestOf(body, 'format', 'fields');
  if (!isFormat(format)) errors.push(fieldError('format', format, `must be one of ${FORMATS.join(', ')}`));
  const parsed = parseFieldPaths(fields.fields ?? null);
  if ('error' in parsed) errors.push(parsed.error);
  else if (isFormat(format)) errors.push(...kindErrors('push', { format, fields: parsed.paths }));
  const chosen = chosenEvent(fields);
  if (isFormat(format) && 'paths' in parsed && chosen.ok && errors.length === 0)
    return { format, paths: parsed.paths, chosen: chosen.value };
  throw ApiError.invalid(...errors, ...(chosen.ok ? [] : chosen.errors));
}

interface EventFields {
  event?: unknown;
  data?: unknown;
  subject?: unknown;
  eventId?: unknown;
}

function requestOf(body: unknown, ...names: ('filter' | 'format' | 'fields')[]) {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('body', MESSAGES.badPreview);
  const known: string[] = [...names, 'event', 'data', 'subject', 'eventId'];
  const errors = Object.keys(body)
    .filter((field) => !known.includes(field))
    .map(unknownField);
  const fields = body as EventFields & { filter?: unknown; format?: unknown; fields?: unknown };
  return { filter: fields.filter, format: fields.format, fields, errors };
}

type Chosen = { ok: true; value: ChosenEvent } | { ok: false; errors: FieldError[] };

function chosenEvent({ event, data, subject = null, eventId }: EventFields): Chosen {
  if (eventId !== undefined) {
    if (event !== undefined || data !== undefined || subject !== null)
      return { ok: false, errors: [invalidField('eventId', 'does not go together with event, data and subject')] };
    if (typeof eventId !== 'string')
      return { ok: false, errors: [invalidField('eventId', 'must be the id of an event')] };
    return { ok: true, value: { eventId: idOf('eventId', eventId) } };
  }
  const verdict = serialiseData(data);
  const errors = [
    ...(typeof event === 'string' && isEventName(event)
      ? []
      : [fieldError('event', event, 'must be the name of an event, such as order.paid')]),
    ...(verdict.ok ? [] : [{ ...fieldError('data', data, ''), message: verdict.problem }]),
    ...(subject === null || isSubject(subject)
      ? []
      : [{ ...fieldError('subject', subject, ''), message: MESSAGES.badSubject }]),
  ];
  if (!verdict.ok || errors.length > 0) return { ok: false, errors };
  return { ok: true, value: { event: event as string, data: verdict.text, subject: subject as string | null } };
}

const fieldError = (field: string, value: unknown, rule: string): FieldError => ({
  ...invalidField(field, rule),
  code: value === undefined ? 'required' : 'invalid',
});

const REQUIRED = {
  ok: false as const,
  errors: [fieldError('filter', undefined, 'must be an object of conditions, or null')],
};

const isFormat = (value: unknown): value is EventFormat => FORMATS.some((format) => format === value);
