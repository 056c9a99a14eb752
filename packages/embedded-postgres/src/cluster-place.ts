import { createHash } from 'node:crypto';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { clusterExists } from './cluster';
import { makeFolder } from './data-folder';
import { findSharedFolder } from './shared-folder';
import { nobodyIn, OWN_USERS, postgresUserIn, type SystemUser } from './postgres-user';
import { canPassThrough, giveTo, isRoot, readUsers } from './system-user';

/** The folder of the cluster, and the user that owns it. */
export interface ClusterPlace {
  folder: string;
  /** The user that PostgreSQL must run as; undefined: the user of this process. */
  user?: SystemUser;
  notes: string[];
}

/**
 * Finds the place of this data folder's cluster, whether the cluster exists or not. PostgreSQL refuses to run as root.
 * @throws Error with a readable message when a cluster is lost, or PostgreSQL's user cannot reach it
 */
export async function findClusterPlace(dataDir: string): Promise<ClusterPlace> {
  if (!isRoot()) return { folder: join(dataDir, 'postgres'), notes: [] };
  const users = await readUsers();
  const preferred = postgresUserIn(users);
  const { folder, notes } = await findFolder(dataDir, preferred);
  const user = (await clusterExists(folder)) ? await ownerOf(folder, preferred) : preferred;
  if (user.uid === nobodyIn(users).uid) notes.push(...notesOnNobody(folder));
  if (await canPassThrough(user, dirname(folder))) return { folder, user, notes };
  throw new Error(`PostgreSQL's user (${user.uid}) cannot reach ${folder} any more: open the way, or move the data.`);
}

/** The cluster may have been created when another user ran PostgreSQL, or root may have restored it from a backup. */
async function ownerOf(folder: string, preferred: SystemUser): Promise<SystemUser> {
  const { uid, gid } = await stat(folder);
  if (uid !== 0) return { uid, gid };
  await giveTo(preferred, folder);
  return preferred;
}

function notesOnNobody(folder: string): string[] {
  const [own] = OWN_USERS;
  return [
    'PostgreSQL runs as nobody, because it refuses to run as root: every other program of nobody can read the data.',
    `To change that, stop the service, create the user ${own}, and run: chown -R ${own}: ${folder}`,
  ];
}

async function findFolder(dataDir: string, user: SystemUser): Promise<{ folder: string; notes: string[] }> {
  const record = join(dataDir, 'postgres.location');
  const recorded = (await readFile(record, 'utf8').catch(() => '')).trim();
  if (recorded) return { folder: await refuseLost(recorded, record), notes: [`The database is in ${recorded}.`] };

  const inside = join(dataDir, 'postgres');
  if ((await clusterExists(inside)) || (await canPassThrough(user, dataDir))) return { folder: inside, notes: [] };

  const { folder: shared, isTemporary } = await findSharedFolder();
  const folder = join(await makeHome(shared, dataDir), 'postgres');
  await writeFile(record, `${folder}\n`, { mode: 0o600 });
  const notes = [`PostgreSQL cannot run as root and its user cannot reach ${dataDir}: the database is in ${folder}.`];
  if (isTemporary) notes.push(`${shared} may be emptied when the machine restarts: choose another DATA_DIR.`);
  return { folder, notes };
}

async function refuseLost(folder: string, record: string): Promise<string> {
  const home = await stat(dirname(folder)).catch(() => null);
  if (home) return folder;
  throw new Error(
    `The database was in ${folder}, which is gone: restore it, or remove ${record} to begin without data.`,
  );
}

/** Creates a new home. A data folder that is recreated at the same path must not get the database of the old one. */
async function makeHome(shared: string, dataDir: string): Promise<string> {
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  for (let number = 1; ; number++) {
    const home = join(shared, number === 1 ? hash : `${hash}-${number}`);
    if (await stat(join(home, 'postgres')).catch(() => null)) continue;
    await makeFolder(home, 0o711);
    await chmod(home, 0o711);
    return home;
  }
}
