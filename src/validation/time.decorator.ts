import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsDate } from 'class-validator';
import { MESSAGES } from '../errors/catalogue';
import { Optional } from './optional.decorator';

const ISO_8601 = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;

/** An optional point in time in a query: ISO 8601 with an offset. A plus sign may arrive as a space. */
export function IsTime(): PropertyDecorator {
  return applyDecorators(
    Optional(),
    Transform(({ value }: { value: unknown }) => parseTime(value)),
    IsDate({ message: `$property ${MESSAGES.badTime}` }),
  );
}

function parseTime(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.replace(' ', '+');
  const date = ISO_8601.test(text) ? new Date(text) : null;
  return date && !Number.isNaN(date.getTime()) && date.getTime() >= 0 ? date : value;
}
