import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsDate, ValidateIf } from 'class-validator';
import { MESSAGES } from '../errors/messages';
import { Optional } from './optional.decorator';

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
