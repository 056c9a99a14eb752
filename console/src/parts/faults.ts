import type { Fault } from '../api/types';
import { plainOf } from './plain';

const isIn = (field: string, name: string): boolean =>
  field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`);

/** The invalid fields that an error of the service lists. */
const faultsOf = (error: unknown): readonly Fault[] =>
  error instanceof Error && 'details' in error && Array.isArray(error.details) ? (error.details as Fault[]) : [];

const textOf = (faults: readonly Fault[]): string | null =>
  faults.length === 0 ? null : faults.map(({ message }) => message).join('; ');

/** Returns the messages about a field and its parts, such as `events` and `events[2]`; null without any. */
export const faultAt = (error: unknown, name: string): string | null =>
  textOf(faultsOf(error).filter(({ field }) => isIn(field, name)));

/** Returns the messages about all other fields; null if each stands at one of these. */
export const faultElsewhere = (error: unknown, names: readonly string[]): string | null =>
  textOf(faultsOf(error).filter(({ field }) => !names.some((name) => isIn(field, name))));

/** True when the error lists invalid fields. */
export const hasFaults = (error: unknown): boolean => faultsOf(error).length > 0;

/**
 * Returns which parts of a field are faulty: those that the error names, or the first if only the field as a whole is.
 * @param parts each with the path that errors use, and its name, which messages quote
 */
export function faultyParts(
  error: unknown,
  field: string,
  parts: readonly { path: string; name: string }[],
): readonly boolean[] {
  const message = faultAt(error, field);
  if (message === null) return parts.map(() => false);
  const named = parts.map(({ path, name }) => faultAt(error, path) !== null || message.includes(JSON.stringify(name)));
  return named.includes(true) ? named : parts.map((_, i) => i === 0);
}

/** Returns why the service refuses the content of a request; null for every other error. */
export const refusalOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && error.code === 'validation_failed' ? plainOf(error.message) : null;
