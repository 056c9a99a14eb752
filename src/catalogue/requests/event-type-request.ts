import {
  descriptionProblem,
  exampleProblem,
  isApplication,
  type ObjectSchema,
  schemaProblem,
} from 'webhook-notification/catalogue';
import { ApiError } from '../../infrastructure/errors/api-error';
import { messageFor, MESSAGES } from '../../infrastructure/errors/messages';

/** Declaration of an event type. */
export interface EventTypeRequest {
  description: string;
  schema: ObjectSchema;
  example: object;
  application: string | null;
}

const DEFAULTS = { schema: { type: 'object' }, example: {} };

/**
 * Parses the body that declares an event type. It is not a DTO because class-transformer must not process `schema` and
 * `example`: a key such as `constructor`, or deep nesting, breaks it.
 * @param fields allowed fields in addition to description, schema and example
 * @throws ApiError 400 that lists every error
 */
export function parseEventTypeRequest(
  body: unknown,
  fields: readonly ('name' | 'application')[],
): EventTypeRequest & { name: unknown } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ApiError(400, MESSAGES.badEventType);
  }
  const { name, description, schema, example, application } = { ...DEFAULTS, ...body } as Record<string, unknown>;
  const known = ['description', 'schema', 'example', ...fields];
  const problems = [
    ...Object.keys(body)
      .filter((field) => !known.includes(field))
      .map(messageFor.unknownField),
    descriptionProblem(description),
    application === undefined || isApplication(application) ? null : MESSAGES.badApplication,
    schemaProblem(schema),
    exampleProblem(example),
  ].filter((problem) => problem !== null);
  if (problems.length > 0) throw new ApiError(400, problems.join('; '));
  return { name, description, schema, example, application: application ?? null } as EventTypeRequest & {
    name: unknown;
  };
}
