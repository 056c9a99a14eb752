import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, chown, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { syncFolder } from './generated-secrets';
import type { SystemUser } from './postgres-user';
import { asSpawnOptions } from './system-user';

const run = promisify(execFile);

export const ROLE_NAME = 'webhook_service';

export interface ClusterPlan {
  folder: string;
  initdb: string;
  password: string;
  user?: SystemUser;
}

/**
 * True when the folder is a complete cluster: it gets its name only after `initdb` has finished.
 * @throws Error when this user may not read the folder
 */
export async function clusterExists(folder: string): Promise<boolean> {
  try {
    await access(join(folder, 'PG_VERSION'));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    if (code === 'EACCES')
      throw new Error(`${folder} belongs to another user: start as that user, or as root`, { cause: error });
    throw error;
  }
}

/** Creates a cluster next to its final place and then renames it, so that the final place never contains an incomplete one. */
export async function createCluster(plan: ClusterPlan): Promise<void> {
  await removeLeftovers(plan.folder);
  const workshop = `${plan.folder}.new-${randomBytes(6).toString('hex')}`;
  const passwordFile = join(workshop, 'password');
  await mkdir(workshop, { mode: 0o700 });
  try {
    await writeFile(passwordFile, plan.password, { mode: 0o600 });
    if (plan.user) for (const path of [passwordFile, workshop]) await chown(path, plan.user.uid, plan.user.gid);
    await runInitdb(plan, join(workshop, 'cluster'), passwordFile);
    await rename(join(workshop, 'cluster'), plan.folder);
    await syncFolder(dirname(plan.folder));
  } finally {
    await rm(workshop, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function runInitdb(plan: ClusterPlan, folder: string, passwordFile: string): Promise<void> {
  const options = [
    `--pgdata=${folder}`,
    `--username=${ROLE_NAME}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // The built-in C.UTF-8 compares bytes like C, so no update of the host's libraries can break an index. Unlike C, it
    // knows upper and lower case beyond ASCII.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
  ];
  try {
    // TZ avoids a search through all time zones.
    await run(plan.initdb, options, { cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' }, ...asSpawnOptions(plan.user) });
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    if (/could not look up effective user ID/.test(stderr ?? ''))
      throw new Error(nameless(plan.user?.uid ?? process.getuid?.() ?? 0), { cause: error });
    throw new Error(`initdb failed in ${dirname(plan.folder)}: ${stderr?.trim() || message}`, { cause: error });
  }
}

const nameless = (uid: number): string =>
  `PostgreSQL cannot run as user ${uid}, who has no name on this machine, as under OpenShift: set DATABASE_URL to ` +
  'another PostgreSQL, run as a user in /etc/passwd (docker run --user node), or add the user: ' +
  `echo 'webhooks:x:${uid}:0::/:/sbin/nologin' >> /etc/passwd`;

async function removeLeftovers(folder: string): Promise<void> {
  const parent = dirname(folder);
  for (const name of await readdir(parent)) {
    if (!name.startsWith(`${basename(folder)}.new-`)) continue;
    // An orphaned initdb may still write into it. The next start removes the rest.
    await rm(join(parent, name), { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}
