import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsString, Matches, MaxLength } from 'class-validator';
import { Optional } from './optional.decorator';

/** PostgreSQL takes no NUL in a text, not even to compare with. */
const WITHOUT_NUL = /^[^\0]*$/;

/** The name of an event in a query, known or not. */
export const IsEventFilter = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ maxLength: 128, required: false }),
    Optional(),
    IsString(),
    MaxLength(128),
    Matches(WITHOUT_NUL, { message: '$property must not contain NUL' }),
  );
