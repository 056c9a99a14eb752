import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
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

/** 8 to 256 characters of any script, except control characters and lone surrogates. */
const PRINTABLE_SECRET = /^[^\p{Cc}\p{Cs}]{8,256}$/u;
const WELL_FORMED = /^[^\p{Cs}\0]*$/u;

/** 1 to 50 different strings of at most 128 characters. `WebhookRulesService` judges whether they match an event. */
export const IsEventPatterns = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ minItems: 1, maxItems: 50, uniqueItems: true }),
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
    ApiProperty({ minLength: 8, maxLength: 256 }),
    IsString(),
    Matches(PRINTABLE_SECRET, { message: 'secret must be 8 to 256 printable characters without control characters' }),
  );

/** At most 256 characters of well-formed text without NUL. Null clears the description. */
export const IsDescription = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ maxLength: 256 }),
    ValidateIf((_, value) => value !== undefined && value !== null),
    IsString(),
    MaxLength(256),
    Matches(WELL_FORMED, { message: 'description must be well-formed text without NUL' }),
  );
