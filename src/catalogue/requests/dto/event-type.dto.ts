import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, Matches } from 'class-validator';
import {
  APPLICATION,
  DESCRIPTION,
  descriptionProblem,
  EVENT_NAME,
  EVENT_SOURCES,
  type EventSource,
  exampleProblem,
  type FieldError,
  isApplication,
  type KnownEventType,
  type ObjectSchema,
  schemaProblem,
} from 'webhook-notification/catalogue';
import { ApiError, invalid, MESSAGES, unknownField } from '../../../infrastructure/errors/api-error';
import { Optional, patternOf, ToBoolean } from '../../../infrastructure/validation/api-field.decorator';

export class EventTypeDto {
  /**
   * Name of the event.
   * @example follower.gained
   */
  name: string;

  /** When the event happens. */
  description: string;

  /** JSON Schema (2020-12) of `data`. */
  schema: Record<string, unknown>;

  /** An example of `data`. */
  example: Record<string, unknown>;

  /** Source of the event type: the service, the setting EXTRA_EVENT_TYPES, a module or application, or the API. */
  @ApiProperty({ enum: EVENT_SOURCES })
  source: EventSource;

  /** The application that declared the event type; null if none did. */
  application: string | null;

  static from({ name, description, schema, example, source, application }: KnownEventType): EventTypeDto {
    return { name, description, schema: { ...schema }, example: { ...example }, source, application };
  }
}

export class DeletedEventTypeDto {
  /** Name of the deleted event type. */
  name: string;
}

/** Documents the body that `parseEventType` parses. */
class EventTypeFieldsDto {
  /**
   * When the event happens, as a sentence of 1 to 500 characters.
   * @example "An invoice was paid."
   */
  @ApiProperty({ pattern: patternOf(DESCRIPTION) })
  description: string;

  /**
   * JSON Schema (2020-12) of `data`, of type object. Default: any object. At most 16 KiB, 16 levels, and 500 keywords
   * and enum values in total, where every reference counts its target again. Keywords may be type, properties,
   * required, additionalProperties, items, enum, const, format (date-time, date, uuid, email, uri), oneOf, anyOf,
   * allOf, $defs, $ref to one of $defs, bounds of numbers, lengths and counts, and annotations.
   * @example { "type": "object", "required": ["cents"], "properties": { "cents": { "type": "integer", "minimum": 0 } } }
   */
  schema?: Record<string, unknown>;

  /**
   * An example of `data` that matches the schema. Default: an empty object. At most 16 KiB.
   * @example { "cents": 4900 }
   */
  example?: Record<string, unknown>;
}

export class CreateEventTypeDto extends EventTypeFieldsDto {
  /**
   * 1 to 128 characters: parts of A-Z, a-z, 0-9, _ and -, with dots between them. No two names may differ only in case; `webhook`,
   * `webhook.*` and `operator.*` are reserved.
   * @example invoice.paid
   */
  @ApiProperty({ maxLength: 128, pattern: EVENT_NAME.source })
  name: string;
}

export class EventTypeDeclarationDto extends EventTypeFieldsDto {
  /**
   * The application that declares the event type. Only the same application can change it.
   * @example shop
   */
  @ApiProperty({ pattern: APPLICATION.source })
  application?: string;
}

export class SaveEventTypeQueryDto {
  /** True replaces the schema with a different one. */
  @Optional()
  @ToBoolean()
  @IsBoolean({ message: 'force must be true or false' })
  force?: boolean;
}

export class DeleteEventTypeQueryDto {
  /** The application that declared the event type, if any. */
  @Optional()
  @Matches(APPLICATION, { message: MESSAGES.badApplication })
  @ApiProperty({ pattern: APPLICATION.source, required: false })
  application?: string;
}

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
