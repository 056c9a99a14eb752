import {
  descriptionProblem,
  exampleProblem,
  type FieldError,
  isApplication,
  type ObjectSchema,
  schemaProblem,
} from 'webhook-notification/catalogue';
import { ApiError, invalid } from '../../infrastructure/errors/api-error';
import { MESSAGES, unknownField } from '../../infrastructure/errors/messages';

/** Declaration of an event type. */
export interface EventTypeRequest {
  description: string;
  schema: ObjectSchema;
  example: object;
  application: string | null;
}

const DEFAULTS = { schema: { type: 'object' }, example: {} };

/** A declaration with the name of the type. */
export type Declaration = EventTypeRequest & { name: string };

/**
 * Parses the body that declares a new event type.
 * @throws ApiError 400 that lists every error
 */
export const parseNewEventType = (body: unknown): Declaration => parse(body, ['name']) as Declaration;

/**
 * Parses the body that declares or changes the event type that the path names.
 * @throws ApiError 400 that lists every error
 */
export const parseEventType = (body: unknown): EventTypeRequest => parse(body, ['application']);

/**
 * Not a DTO because class-transformer must not process `schema` and `example`: a key such as `constructor`, or deep
 * nesting, breaks it.
 * @param fields allowed fields in addition to description, schema and example
 */
function parse(body: unknown, fields: readonly ('name' | 'application')[]): EventTypeRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('body', MESSAGES.badEventType);
  const { name, description, schema, example, application } = { ...DEFAULTS, ...body } as Record<string, unknown>;
  const known = ['description', 'schema', 'example', ...fields];
  const problems = {
    ...(fields.includes('name') && { name: typeof name === 'string' ? null : 'name must be a string' }),
    description: descriptionProblem(description),
    application: application === undefined || isApplication(application) ? null : MESSAGES.badApplication,
    schema: schemaProblem(schema),
    example: exampleProblem(example),
  };
  const errors = [
    ...Object.keys(body)
      .filter((field) => !known.includes(field))
      .map(unknownField),
    ...Object.entries(problems).flatMap(([field, message]): FieldError[] =>
      message ? [{ field, code: Object.hasOwn(body, field) ? 'invalid' : 'required', message }] : [],
    ),
  ];
  if (errors.length > 0) throw ApiError.invalid(...errors);
  return {
    ...(name !== undefined && { name }),
    ...{ description, schema, example, application: application ?? null },
  } as EventTypeRequest;
}
