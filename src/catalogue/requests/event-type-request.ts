import { MAX_BYTES, type ObjectSchema, schemaProblem, serialiseData } from 'webhook-notification/catalogue';
import { ApiError } from '../../plumbing/errors/api-error';
import { messageFor, MESSAGES } from '../../plumbing/errors/messages';

export const DESCRIPTION = /^[^\p{Cc}\p{Cs}]{1,500}$/u;
export const APPLICATION = /^[A-Za-z0-9@/._-]{1,64}$/;

/** What an event type is declared with. */
export interface EventTypeRequest {
  description: string;
  schema: ObjectSchema;
  example: object;
  application: string | null;
}

const DEFAULTS = { schema: { type: 'object' }, example: {} };

/**
 * Reads the body that declares an event type. It is not a DTO because class-transformer must not touch `schema` and
 * `example`: a key such as `constructor`, or deep nesting, breaks it.
 * @param fields those that the body may have beside description, schema and example
 * @throws ApiError 400 that names every fault
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
    matches(DESCRIPTION, description) ? null : 'description must be 1 to 500 characters without control characters',
    application === undefined || matches(APPLICATION, application) ? null : MESSAGES.badApplication,
    schemaProblem(schema),
    exampleProblem(example),
  ].filter((problem) => problem !== null);
  if (problems.length > 0) throw new ApiError(400, problems.join('; '));
  return { name, description, schema, example, application: application ?? null } as EventTypeRequest & {
    name: unknown;
  };
}

const matches = (pattern: RegExp, value: unknown): boolean => typeof value === 'string' && pattern.test(value);

function exampleProblem(example: unknown): string | null {
  const verdict = serialiseData(example);
  if (!verdict.ok) return verdict.problem.replace('data', 'example');
  return Buffer.byteLength(verdict.text) > MAX_BYTES ? `example is larger than ${MAX_BYTES} bytes` : null;
}
