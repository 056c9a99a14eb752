import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsString,
  Matches,
  MaxLength,
  ValidateIf,
} from 'class-validator';
import { ApiError } from '../../infrastructure/errors/api-error';
import { patternOf } from '../../infrastructure/validation/api-field.decorator';
import { Optional } from '../../infrastructure/validation/optional.decorator';
import { ParsedField } from '../../infrastructure/validation/parsed-field.decorator';
import { type EventFormat, FORMATS } from '../formats/event-format';
import { type EventFilter, parseFilter } from '../filter/event-filter';
import { IsDecimal } from '../../infrastructure/validation/decimal.decorator';
import { IsWholeNumber } from '../../infrastructure/validation/whole-number.decorator';
import {
  MAX_RETRY_DELAY_MS,
  MAX_RETRY_DELAYS,
  MAX_PER_SECOND,
  MAX_TIMEOUT_MS,
  MIN_RETRY_DELAY_MS,
  MIN_PER_SECOND,
  MIN_TIMEOUT_MS,
  parseRetryDelays,
} from '../attempt-timing';
import { HEADER_NAME, HEADER_VALUE, MAX_HEADERS, parseHeaders } from '../headers/header-rules';
import { MAX_IDLE_SECONDS, MIN_IDLE_SECONDS, WEBHOOK_KINDS, type WebhookKind } from '../webhook-kind';
import { MAX_METADATA, METADATA_NAME, METADATA_VALUE, parseMetadata } from '../metadata';

/** 8 to 256 characters of any script, except control characters and lone surrogates. */
const PRINTABLE_SECRET = /^[^\p{Cc}\p{Cs}]{8,256}$/u;
const WELL_FORMED = /^[^\p{Cs}\0]*$/u;
/** The first check of `validateUrl`. A pattern cannot express the complete rule. */
const HTTP_URL = /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s\p{Cc}\p{Cs}\\#/?@]+([/?][^\s\p{Cc}\p{Cs}\\#]*)?$/u;
const EVENT_PATTERN = /^(\*|[a-z0-9_]+(\.[a-z0-9_]+)*\.(\*|[a-z0-9_]+))$/;

export const EXTERNAL_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
export const EXTERNAL_ID_RULE = 'must have 1 to 128 letters, digits, . _ : or -, and begin with a letter or digit';

/** The URL that receives events. `WebhookRulesService` validates it. */
export const IsHttpUrl = (): PropertyDecorator =>
  applyDecorators(ApiProperty({ maxLength: 2048, pattern: patternOf(HTTP_URL) }), IsString());

const EVENT_PATTERNS = { type: 'string', maxLength: 128, pattern: EVENT_PATTERN.source };

/** 1 to 50 different strings of at most 128 characters. `WebhookRulesService` checks that each matches an event. */
export const IsEventPatterns = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ minItems: 1, maxItems: 50, uniqueItems: true, items: EVENT_PATTERNS } as ApiPropertyOptions),
    IsArray(),
    ArrayMinSize(1),
    ArrayMaxSize(50),
    ArrayUnique({ message: 'events must name each event only once' }),
    IsString({ each: true }),
    MaxLength(128, { each: true }),
  );

/** A signing secret: 8 to 256 printable characters. */
export const IsSecret = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ minLength: 8, maxLength: 256, pattern: patternOf(PRINTABLE_SECRET) }),
    IsString(),
    Matches(PRINTABLE_SECRET, { message: 'secret must be 8 to 256 printable characters without control characters' }),
  );

/** At most 256 characters of well-formed text without NUL. Null clears the description. */
export const IsDescription = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ maxLength: 256, pattern: patternOf(WELL_FORMED) }),
    ValidateIf((_, value) => value !== undefined && value !== null),
    IsString(),
    MaxLength(256),
    Matches(WELL_FORMED, { message: 'description must be well-formed text without NUL' }),
  );

/** An id that the owner chooses. Null clears it. */
export const IsExternalId = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ maxLength: 128, pattern: EXTERNAL_ID.source }),
    ValidateIf((_, value) => value !== undefined && value !== null),
    IsString(),
    Matches(EXTERNAL_ID, { message: `externalId ${EXTERNAL_ID_RULE}` }),
  );

/** Labels of the owner: at most 20 texts by name. */
export const IsMetadata = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      type: 'object',
      selfRequired: false,
      maxProperties: MAX_METADATA,
      propertyNames: { pattern: METADATA_NAME.source },
      additionalProperties: { type: 'string', maxLength: 200, pattern: patternOf(METADATA_VALUE) },
      example: { team: 'billing' },
    } as ApiPropertyOptions),
    ParsedField(parseMetadata),
  );

export const FILTER_EXAMPLE = { 'data.amountCents': { gte: 1000 }, 'data.status': ['paid', 'refunded'] };

/** Conditions on the content of events. `parseFilter` validates them, because no schema can express the rules. */
export const IsFilter = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      type: 'object',
      selfRequired: false,
      nullable: true,
      additionalProperties: true,
      example: FILTER_EXAMPLE,
    } as ApiPropertyOptions),
    ParsedField(filterOf),
  );

/** @throws ApiError 400 that lists the errors */
function filterOf(value: unknown): EventFilter | null {
  const verdict = parseFilter(value);
  if (!verdict.ok) throw ApiError.invalid(...verdict.errors);
  return verdict.filter;
}

/** A deadline of one attempt in ms. Null clears it. `WebhookRulesService` checks that the settings allow it. */
export const IsTimeoutMs = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: 'integer', minimum: MIN_TIMEOUT_MS, maximum: MAX_TIMEOUT_MS, nullable: true }),
    ValidateIf((_, value) => value !== undefined && value !== null),
    IsWholeNumber(MIN_TIMEOUT_MS, MAX_TIMEOUT_MS),
  );

/** A delay in ms for each retry. Null clears them. `WebhookRulesService` checks that the settings allow them. */
export const IsRetryDelaysMs = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      type: 'array',
      maxItems: MAX_RETRY_DELAYS,
      items: { type: 'integer', minimum: MIN_RETRY_DELAY_MS, maximum: MAX_RETRY_DELAY_MS },
      nullable: true,
    }),
    ParsedField(parseRetryDelays),
  );

/** Attempts a second. Null clears the rate. */
export const IsMaxPerSecond = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: 'number', minimum: MIN_PER_SECOND, maximum: MAX_PER_SECOND, nullable: true }),
    ValidateIf((_, value) => value !== undefined && value !== null),
    IsDecimal(MIN_PER_SECOND, MAX_PER_SECOND),
  );

/** One of the kinds; never null. */
export const IsKind = (absent?: WebhookKind): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ enum: WEBHOOK_KINDS, enumName: 'WebhookKind', required: false, default: absent }),
    Optional(),
    IsIn(WEBHOOK_KINDS, { message: `kind must be one of ${WEBHOOK_KINDS.join(', ')}` }),
  );

/** Seconds after which a pull webhook that nobody uses is deleted. Null clears them. */
export const IsIdleSeconds = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: 'integer', minimum: MIN_IDLE_SECONDS, maximum: MAX_IDLE_SECONDS, nullable: true }),
    ValidateIf((_, value) => value !== undefined && value !== null),
    IsWholeNumber(MIN_IDLE_SECONDS, MAX_IDLE_SECONDS),
  );

/** One of the formats; never null. */
export const IsFormat = (absent?: EventFormat): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ enum: FORMATS, enumName: 'EventFormat', required: false, default: absent }),
    Optional(),
    IsIn(FORMATS, { message: `format must be one of ${FORMATS.join(', ')}` }),
  );

const HEADERS = { maxProperties: MAX_HEADERS, propertyNames: { pattern: HEADER_NAME.source }, nullable: true };
const HEADER = { type: 'string', minLength: 1, maxLength: 1024, pattern: HEADER_VALUE.source };

/** Headers of the owner. Null: none. `parseHeaders` validates them, because no schema can express the rules. */
export const IsHeaders = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      ...{ type: 'object', selfRequired: false, ...HEADERS, additionalProperties: HEADER },
      example: { 'x-api-key': 'k-4f2a91' },
    } as ApiPropertyOptions),
    ParsedField((value) => parseHeaders(value, false)),
  );

/** Changes of headers by name; null removes one. Null for all removes all. */
export const IsHeaderChanges = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      ...{ type: 'object', selfRequired: false, ...HEADERS, maxProperties: 2 * MAX_HEADERS },
      additionalProperties: { ...HEADER, nullable: true },
      example: { 'x-api-key': 'k-4f2a91', 'x-old-key': null },
    } as ApiPropertyOptions),
    ParsedField((value) => parseHeaders(value, true)),
  );
