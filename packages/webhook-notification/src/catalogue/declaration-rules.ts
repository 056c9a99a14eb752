import { serialiseData } from './event-data';
import { MAX_BYTES } from './schema-rules';

export const DESCRIPTION = /^[^\p{Cc}\p{Cs}]{1,500}$/u;
export const APPLICATION = /^[A-Za-z0-9@/._-]{1,64}$/;

/** What the service says to the name of an application that cannot be. */
export const BAD_APPLICATION = 'application must be 1 to 64 of the characters A-Z a-z 0-9 @ / . _ -';

export const isApplication = (value: unknown): boolean => typeof value === 'string' && APPLICATION.test(value);

/** Why this cannot describe an event type; null when it can. */
export function descriptionProblem(description: unknown): string | null {
  const isRight = typeof description === 'string' && DESCRIPTION.test(description);
  return isRight ? null : 'description must be 1 to 500 characters without control characters';
}

/** Why this cannot be an example, whatever the schema; null when it can. */
export function exampleProblem(example: unknown): string | null {
  const verdict = serialiseData(example);
  if (!verdict.ok) return verdict.problem.replace('data', 'example');
  return Buffer.byteLength(verdict.text) > MAX_BYTES ? `example is larger than ${MAX_BYTES} bytes` : null;
}
