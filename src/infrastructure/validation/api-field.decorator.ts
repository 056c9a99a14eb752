import { applyDecorators, type Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  Allow,
  getMetadataStorage,
  IsDate,
  IsInt,
  IsNumber,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateIf,
} from 'class-validator';
import { SUBJECT } from 'webhook-notification/catalogue';
import { MESSAGES } from '../errors/api-error';

/** Of `\p{C}\p{Z}` what one unit of UTF-16 can express, without unassigned characters. */
const UNSEEN =
  '\\u0000-\\u0020\\u007f-\\u00a0\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u1680\\u180e\\u2000-\\u200f' +
  '\\u2028-\\u202f\\u205f-\\u206f\\u3000\\ue000-\\uf8ff\\ufeff\\ufff0-\\ufffb\\ufffe\\uffff';

/**
 * Converts a pattern to a form that every client understands: Python has no `\p{Cc}`, and Rust no surrogates, which
 * well-formed text contains only in pairs.
 */
export const patternOf = ({ source }: RegExp): string =>
  source
    .replaceAll('\\p{Cc}', '\\u0000-\\u001f\\u007f-\\u009f')
    .replaceAll('\\p{Cs}', '')
    .replaceAll('\\p{C}\\p{Z}', UNSEEN)
    .replaceAll('\\0', '\\u0000');

export const ApiId = (): PropertyDecorator => ApiProperty({ format: 'uuid' });

/** Documents a time: ISO 8601, UTC, with milliseconds. */
export const ApiTime = (): PropertyDecorator => ApiProperty({ format: 'date-time' });

/** Documents a subject. Its length is in code points, as in JSON Schema. */
export const ApiSubject = (): PropertyDecorator =>
  ApiProperty({ minLength: 1, maxLength: 128, pattern: patternOf(SUBJECT).replace('(?!.{129})', ''), required: false });

export const ApiCount = (options: ApiPropertyOptions = {}): PropertyDecorator =>
  ApiProperty({ type: 'integer', minimum: 0, ...options } as ApiPropertyOptions);

/** The field may be absent. Unlike with `@IsOptional()`, it may not be null. */
export const Optional = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

/** Returns the field as the handler receives it. Throws an `ApiError` with details that lists every error. */
export type FieldParser = (value: unknown) => unknown;

/**
 * Validates a field by this function, if the request has it. For fields whose keys users choose: class-transformer throws
 * at a key such as `constructor`. class-validator keeps the function, because Nest's mapped types copy what it knows of a field.
 */
export const ParsedField = (parse: FieldParser): PropertyDecorator => Allow({ context: { parse } });

const known = new WeakMap<Type, Record<string, FieldParser>>();

/** Returns the parsers of a DTO by field, with those that it inherits. */
export function parsersOf(dto: Type): Record<string, FieldParser> {
  const found = known.get(dto) ?? findParsers(dto);
  known.set(dto, found);
  return found;
}

function findParsers(dto: Type): Record<string, FieldParser> {
  const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  const parsers = rules.map(({ propertyName, context }) => [propertyName, (context as Partial<Parsed>)?.parse]);
  return Object.fromEntries(parsers.filter(([, parse]) => parse)) as Record<string, FieldParser>;
}

type Parsed = { parse: FieldParser };

const toBoolean = ({ value }: { value: unknown }): unknown => ({ true: true, false: false })[String(value)] ?? value;

/** Converts `true` and `false` of a query. Any other value stays unchanged, so that `@IsBoolean` rejects it. */
export const ToBoolean = (): PropertyDecorator => Transform(toBoolean);

const toList = ({ value }: { value: unknown }): unknown => (value === undefined ? value : [...new Set([value].flat())]);

export const ToList = (): PropertyDecorator => Transform(toList);

/** A number between two bounds, both included. Every error message names both. */
export function IsDecimal(min: number, max: number): PropertyDecorator {
  const said = { message: `$property must be a number from ${min} to ${max}` };
  return applyDecorators(IsNumber({}, said), Min(min, said), Max(max, said));
}

/** A whole number between two bounds, both included. Every error message names both. */
export function IsWholeNumber(min: number, max: number): PropertyDecorator {
  const said = { message: `$property must be a whole number from ${min} to ${max}` };
  return applyDecorators(IsInt(said), Min(min, said), Max(max, said));
}

/** PostgreSQL rejects NUL in a text, even in a comparison. */
const WITHOUT_NUL = /^[^\0]*$/;

/** The name of an event in a query; it need not be known. */
export const IsEventFilter = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ maxLength: 128, pattern: patternOf(WITHOUT_NUL), required: false }),
    Optional(),
    IsString(),
    MaxLength(128),
    Matches(WITHOUT_NUL, { message: '$property must not contain NUL' }),
  );

/** The exact subject of events in a query. */
export const IsSubjectFilter = (): PropertyDecorator =>
  applyDecorators(ApiSubject(), Optional(), Matches(SUBJECT, { message: MESSAGES.badSubject }));

const ISO_8601 = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;

/** A point in time from 1970 to 9999: ISO 8601 with an offset. In a query a plus sign may arrive as a space. */
export function IsTime(): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: { value: unknown }) => parseTime(value)),
    IsDate({ message: `$property ${MESSAGES.badTime}` }),
  );
}

/** Like `IsTime`, but the field may be absent. */
export const IsOptionalTime = (): PropertyDecorator => applyDecorators(Optional(), IsTime());

/** Like `IsTime`, but the field may be absent or null; in a body the two differ in meaning. */
export function IsTimeOrNull(): PropertyDecorator {
  return applyDecorators(
    ValidateIf((_, value) => value !== undefined && value !== null),
    Transform(({ value }: { value: unknown }) => parseTime(value)),
    IsDate({ message: `$property ${MESSAGES.badTime}` }),
  );
}

/** The last millisecond that has a year of four digits. */
const END_OF_TIME = Date.UTC(10_000, 0) - 1;

function parseTime(value: unknown): unknown {
  return typeof value === 'string' ? (timeOf(value.replace(' ', '+')) ?? value) : value;
}

/** Returns the time that a text names, from 1970 to 9999; null for any other text, or a day that does not exist. */
export function timeOf(text: string): Date | null {
  const [, day] = ISO_8601.exec(text) ?? [];
  // V8 parses February 30 as March 2.
  if (day === undefined || new Date(day).toJSON()?.slice(0, 10) !== day) return null;
  const date = new Date(text);
  return date.getTime() >= 0 && date.getTime() <= END_OF_TIME ? date : null;
}
