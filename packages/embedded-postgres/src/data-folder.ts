import { chmod, lstat, mkdir, readdir, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
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
    const made = await makeFolder(dataDir, mode);
    const folder = await realpath(dataDir);
    // A folder that contains files of another program keeps its mode.
    await refuseSpecialFiles(folder);
    if (made || (await isOurs(folder))) await chmod(folder, mode);
    return folder;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const advice = 'set DATA_DIR to a folder that this user may write, or set DATABASE_URL';
    throw new Error(`The data folder ${dataDir} cannot be used (${code ?? message}): ${advice}.`, { cause: error });
  }
}

/**
 * Creates a folder and its parents. Returns false when it was there. Not with the option `recursive` of Node.js, which never
 * ends where the file system refuses the name with ENOENT, as /proc does.
 */
export async function makeFolder(folder: string, mode: number): Promise<boolean> {
  const attempt = () => mkdir(folder, { mode }).then(() => true);
  try {
    return await attempt();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    const parent = dirname(folder);
    const hasParent = await lstat(parent).then(
      () => true,
      () => false,
    );
    if (code !== 'ENOENT' || hasParent) throw error;
    await makeFolder(parent, mode);
    return attempt();
  }
}

/** The names that this package and the service give to files. */
const OWN_FILE = /^(start\.lock|postgres\.(password|location|log)|secrets\.key|first-token)$/;

/** To open a named pipe may take for ever, and then not even the end of this process ends it. */
async function refuseSpecialFiles(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  const special = entries.find((entry) => OWN_FILE.test(entry.name) && !entry.isFile() && !entry.isSymbolicLink());
  if (special) throw new Error(`${special.name} in it is no file`);
}

async function isOurs(folder: string): Promise<boolean> {
  const names = await readdir(folder);
  return names.length === 0 || names.includes('postgres.password');
}
