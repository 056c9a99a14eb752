import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Tests that run programs that this repository does not install, by name or path. Where one is missing the tests are
 * reported as skipped, and the end of the run says which program is missing.
 */
export function describeWhereInstalled(programs: string, title: string, tests: () => void): void {
  const missing = programs.split(' ').filter((program) => programPath(program) === undefined);
  if (missing.length === 0) describe(title, tests);
  else skip(title, missing.join(', '), tests);
}

/** Reports tests as skipped for want of something. CI is red when it is something that it installs. */
export function skip(title: string, missing: string, tests: () => void): void {
  describe.skip(`${title} (skipped: no ${missing})`, tests);
}

/** Returns the path of the first of the programs that this machine has. */
export function programPath(...programs: string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return programs
    .flatMap((program) => (program.includes('/') ? [program] : folders.map((folder) => join(folder, program))))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
