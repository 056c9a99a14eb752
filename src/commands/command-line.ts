import { parseArgs } from 'node:util';

/** A command line that was not understood: exit code 2, with the usage of its command. */
export class Misunderstood extends Error {}

export const isMisunderstood = (error: unknown): boolean =>
  error instanceof Misunderstood || String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS');

/** @throws Error for anything after the name of a command that takes neither options nor operands */
export const refuseArguments = (args: string[]): void => void parseArgs({ args, options: {} });
