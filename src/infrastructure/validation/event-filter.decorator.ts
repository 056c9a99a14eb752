import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsString, Matches, MaxLength } from 'class-validator';
import { patternOf } from './api-field.decorator';
import { Optional } from './optional.decorator';

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
