import { applyDecorators } from '@nestjs/common';
import { IsInt, Max, Min } from 'class-validator';

/** A whole number between two bounds, both included. Every error message names both. */
export function IsWholeNumber(min: number, max: number): PropertyDecorator {
  const said = { message: `$property must be a whole number from ${min} to ${max}` };
  return applyDecorators(IsInt(said), Min(min, said), Max(max, said));
}
