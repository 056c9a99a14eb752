import { chmod, lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAME = 'webhook-notification-service';

export interface SharedFolder {
  folder: string;
  isTemporary: boolean;
}

/** Root's folder outside of any home, through which every user may pass: under /var/lib, else in the temporary folder. */
export async function findSharedFolder(parents = ['/var/lib', tmpdir()]): Promise<SharedFolder> {
  for (const [index, parent] of parents.entries()) {
    const folder = join(parent, NAME);
    const made = await mkdir(folder).then(
      // The mode of `mkdir` would be cut by the umask.
      () => chmod(folder, 0o755).then(() => true),
      (error: NodeJS.ErrnoException) => error.code === 'EEXIST',
    );
    if (!made) continue;
    await refuseForeign(folder);
    return { folder, isTemporary: index > 0 };
  }
  throw new Error(`neither ${parents.join(' nor ')} can be written: set DATABASE_URL, or do not start as root`);
}

// Anybody can make a folder of this name in the temporary folder, and would then decide what we execute.
async function refuseForeign(folder: string): Promise<void> {
  const stats = await lstat(folder);
  if (stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0) return;
  throw new Error(`${folder} is not a folder that only this user can change: remove it, or set DATABASE_URL`);
}
