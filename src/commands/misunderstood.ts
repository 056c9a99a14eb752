import { ALL_SCOPES } from '../auth/access-token';

/** A command line that is wrong: the program adds how the command is used. */
export class Misunderstood extends Error {}

/** True for such an error, also one of `parseArgs`. */
export const isMisunderstood = (error: unknown): boolean =>
  error instanceof Misunderstood || /^ERR_PARSE_ARGS/.test((error as NodeJS.ErrnoException).code ?? '');

export const unknownScopes = (unknown: readonly string[]): string =>
  unknown.length > 0
    ? `Unknown scopes: ${unknown.join(', ')}. Choose among ${ALL_SCOPES.join(', ')}.`
    : 'Name at least one scope with --scopes';
