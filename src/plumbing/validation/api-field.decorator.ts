import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';

/**
 * A pattern as every reader of the document knows it: Python has no `\p{Cc}`, and Rust no surrogates, which well-formed
 * text has only in pairs.
 */
export const patternOf = ({ source }: RegExp): string =>
  source.replaceAll('\\p{Cc}', '\\u0000-\\u001f\\u007f-\\u009f').replaceAll('\\p{Cs}', '').replaceAll('\\0', '\\u0000');

/** Documents a UUID. */
export const ApiId = (): PropertyDecorator => ApiProperty({ format: 'uuid' });

/** Documents a time: ISO 8601, UTC, with milliseconds. */
export const ApiTime = (): PropertyDecorator => ApiProperty({ format: 'date-time' });

/** Documents a whole number that is not negative. */
export const ApiCount = (options: ApiPropertyOptions = {}): PropertyDecorator =>
  ApiProperty({ type: 'integer', minimum: 0, ...options } as ApiPropertyOptions);
