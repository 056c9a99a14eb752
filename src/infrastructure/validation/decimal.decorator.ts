import { applyDecorators } from '@nestjs/common';
import { IsNumber, Max, Min } from 'class-validator';

/** A number between two bounds, both included. Every error message names both. */
export function IsDecimal(min: number, max: number): PropertyDecorator {
  const said = { message: `$property must be a number from ${min} to ${max}` };
  return applyDecorators(IsNumber({}, said), Min(min, said), Max(max, said));
}
