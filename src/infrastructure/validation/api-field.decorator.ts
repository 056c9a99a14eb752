import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';

/**
 * Converts a pattern to a form that every client understands: Python has no `\p{Cc}`, and Rust no surrogates, which
 * well-formed text contains only in pairs.
 */
export const patternOf = ({ source }: RegExp): string =>
  source.replaceAll('\\p{Cc}', '\\u0000-\\u001f\\u007f-\\u009f').replaceAll('\\p{Cs}', '').replaceAll('\\0', '\\u0000');

/** Documents a UUID. */
export const ApiId = (): PropertyDecorator => ApiProperty({ format: 'uuid' });

/** Documents a time: ISO 8601, UTC, with milliseconds. */
export const ApiTime = (): PropertyDecorator => ApiProperty({ format: 'date-time' });

/** Documents a non-negative whole number. */
export const ApiCount = (options: ApiPropertyOptions = {}): PropertyDecorator =>
  ApiProperty({ type: 'integer', minimum: 0, ...options } as ApiPropertyOptions);
