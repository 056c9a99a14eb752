import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsString,
  Matches,
  MaxLength,
  ValidateIf,
} from 'class-validator';
import { patternOf } from '../../infrastructure/validation/api-field.decorator';

/** 8 to 256 characters of any script, except control characters and lone surrogates. */
const PRINTABLE_SECRET = /^[^\p{Cc}\p{Cs}]{8,256}$/u;
const WELL_FORMED = /^[^\p{Cs}\0]*$/u;
/** The first check of `validateUrl`. A pattern cannot express the complete rule. */
const HTTP_URL = /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s\p{Cc}\p{Cs}\\#/?@]+([/?][^\s\p{Cc}\p{Cs}\\#]*)?$/u;
const EVENT_PATTERN = /^(\*|[a-z0-9_]+(\.[a-z0-9_]+)*\.(\*|[a-z0-9_]+))$/;

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
