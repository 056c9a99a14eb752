import { chmod, lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PARENTS = ['/var/lib', tmpdir()];
const NAME = 'webhook-notification-service';

export interface SharedFolder {
  folder: string;
  isTemporary: boolean;
}

/**
 * Creates or finds root's folder that every user may enter: under /var/lib, otherwise in the temporary folder.
 * @throws Error with a readable message when no folder can be created, or another user can change it
 */
export async function findSharedFolder(): Promise<SharedFolder> {
  for (const [index, parent] of PARENTS.entries()) {
    const folder = join(parent, NAME);
    const made = await mkdir(folder).then(
      // The umask would reduce the mode of `mkdir`.
      () => chmod(folder, 0o755).then(() => true),
      (error: NodeJS.ErrnoException) => error.code === 'EEXIST',
    );
    if (!made) continue;
    await refuseForeign(folder);
    return { folder, isTemporary: index > 0 };
  }
  throw new Error(`neither ${PARENTS.join(' nor ')} can be written: set DATABASE_URL, or do not start as root`);
}

// Any user can create a folder with this name in the temporary folder, and could then decide which programs run.
async function refuseForeign(folder: string): Promise<void> {
  const stats = await lstat(folder);
  if (stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0) return;
  throw new Error(`${folder} is not a folder that only this user can change: remove it, or set DATABASE_URL`);
}
