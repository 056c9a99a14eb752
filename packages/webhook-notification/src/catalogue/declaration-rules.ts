import { serialiseData } from './event-data';
import { MAX_BYTES } from './schema-rules';

export const DESCRIPTION = /^[^\p{Cc}\p{Cs}]{1,500}$/u;
export const APPLICATION = /^[A-Za-z0-9@/._-]{1,64}$/;

/** The error message for an invalid application name. */
export const BAD_APPLICATION = 'application must be 1 to 64 of the characters A-Z a-z 0-9 @ / . _ -';

export const isApplication = (value: unknown): boolean => typeof value === 'string' && APPLICATION.test(value);

/** Returns why this is not a valid description of an event type, or null. */
export function descriptionProblem(description: unknown): string | null {
  const isRight = typeof description === 'string' && DESCRIPTION.test(description);
  return isRight ? null : 'description must be 1 to 500 characters without control characters';
}

/** Returns why this is not a valid example under any schema, or null. */
export function exampleProblem(example: unknown): string | null {
  const verdict = serialiseData(example);
  if (!verdict.ok) return verdict.problem.replace('data', 'example');
  return Buffer.byteLength(verdict.text) > MAX_BYTES ? `example is larger than ${MAX_BYTES} bytes` : null;
}
