import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface GeneratedSecret {
  value: string;
  created: boolean;
}

/**
 * Reads the secret with this name from the data folder, or generates it there. Concurrent processes get the same one.
 * @throws Error with a readable message when the file is empty
 */
export async function readOrCreateSecret(dataDir: string, name: string, make: () => string): Promise<GeneratedSecret> {
  const path = join(dataDir, name);
  const existing = await readSecret(path);
  if (existing !== null) return { value: existing, created: false };

  const value = make();
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeDurably(temporary, `${value}\n`);
    // Unlike a rename, a link never replaces a file that another process has created in between.
    await link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return { value: (await readSecret(path)) ?? value, created: false };
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(dirname(path));
  return { value, created: true };
}

async function readSecret(path: string): Promise<string | null> {
  try {
    const value = (await readFile(path, 'utf8')).trim();
    if (value) return value;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  throw new Error(`${path} is empty: restore it from a backup, or remove it if nothing depends on it`);
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the names in the folder survive a power failure. Windows cannot open folders, and does this by itself. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
