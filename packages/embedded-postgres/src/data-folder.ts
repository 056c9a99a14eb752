import { chmod, mkdir, readdir, realpath } from 'node:fs/promises';
import { isRoot } from './system-user';

/**
 * Creates the folder if needed, readable only by this user, and returns its real path.
 * @throws Error with a readable message when the folder cannot be used
 */
export async function prepareDataFolder(dataDir: string): Promise<string> {
  // When this process is root, PostgreSQL's own user must be able to pass through this folder and the parents created
  // here.
  const mode = isRoot() ? 0o711 : 0o700;
  try {
    const made = await mkdir(dataDir, { recursive: true, mode });
    const folder = await realpath(dataDir);
    // A folder that contains files of another program keeps its mode.
    if (made || (await isOurs(folder))) await chmod(folder, mode);
    return folder;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const advice = 'set DATA_DIR to a folder that this user may write, or set DATABASE_URL';
    throw new Error(`The data folder ${dataDir} cannot be used (${code}): ${advice}.`, { cause: error });
  }
}

async function isOurs(folder: string): Promise<boolean> {
  const names = await readdir(folder);
  return names.length === 0 || names.includes('postgres.password');
}
