import { randomBytes } from 'node:crypto';
import { chmod, cp, lstat, mkdir, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { findSharedFolder } from './shared-folder';

const ABANDONED_AFTER_MS = 10 * 60_000;

/**
 * Copies the package, once per version, to a folder that every user can read, and returns the folder of the copy.
 * @param parent where the copy goes; by default the shared folder
 * @throws Error when it cannot be copied
 */
export async function copyBinaries(bundled: string, platform: string, parent?: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(bundled, 'package.json'), 'utf8')) as { version: string };
  const home = parent ?? (await findSharedFolder()).folder;
  const target = join(home, `postgresql-${version}-${platform}`);
  if (await stat(target).catch(() => null)) return target;

  await removeAbandoned(home, basename(target));
  const partial = `${target}.partial-${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(partial, { mode: 0o755 });
    await cp(join(bundled, 'native'), join(partial, 'native'), { recursive: true, verbatimSymlinks: true });
    await makeReadable(partial);
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    // Another process may have finished first.
    if (!(await stat(target).catch(() => null))) throw error;
  }
  return target;
}

async function makeReadable(path: string): Promise<void> {
  const stats = await lstat(path);
  if (stats.isSymbolicLink()) return;
  await chmod(path, stats.isDirectory() || (stats.mode & 0o100) !== 0 ? 0o755 : 0o644);
  if (stats.isDirectory()) for (const name of await readdir(path)) await makeReadable(join(path, name));
}

/** Removes copies whose process was killed. A newer copy may still be in progress. */
async function removeAbandoned(home: string, name: string): Promise<void> {
  for (const entry of await readdir(home)) {
    if (!entry.startsWith(`${name}.partial-`)) continue;
    const { mtimeMs } = await stat(join(home, entry)).catch(() => ({ mtimeMs: Infinity }));
    if (Date.now() - mtimeMs > ABANDONED_AFTER_MS) await rm(join(home, entry), { recursive: true, force: true });
  }
}
