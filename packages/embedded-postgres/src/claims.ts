import { randomUUID } from 'node:crypto';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from './data-folder';
import { isAlive } from './postgres-process';

const HEIR = 'heir';

/** The claims of this process. Its pid alone is not enough: a restarted container gets the same pids again. */
const held = new Set<string>();

/**
 * One process's use of the database. A service may still use a database that a command has started, so a process that
 * leaves checks here whether it must stop the database. All of this happens under the start lock.
 */
export interface Claim {
  /** True when no other process used the database when this claim was made. */
  readonly isFirst: boolean;
  /**
   * Ends the claim. Returns true when the caller must stop the database too. When other processes still use the
   * database, the owner passes this duty to one of them.
   */
  leave(isOwner: boolean): Promise<boolean>;
}

/**
 * Creates the claim of this process.
 * @param onFreshServer true: this process has just started the server, so older claims are void
 */
export async function makeClaim(dataDir: string, onFreshServer: boolean): Promise<Claim> {
  const folder = join(dataDir, 'claims');
  if (onFreshServer) await rm(folder, { recursive: true, force: true });
  await makeFolder(folder, 0o700);
  const isFirst = (await findLivingClaims(folder)).length === 0;
  const name = `${process.pid}-${randomUUID()}`;
  const path = join(folder, name);
  held.add(name);
  await writeFile(path, '', { mode: 0o600 });

  return {
    isFirst,
    async leave(isOwner) {
      const inherited = (await readFile(path, 'utf8').catch(() => '')) === HEIR;
      held.delete(name);
      await rm(path, { force: true });
      if (!isOwner && !inherited) return false;
      const [heir] = await findLivingClaims(folder);
      if (!heir) return true;
      await writeFile(join(folder, heir), HEIR);
      return false;
    },
  };
}

async function findLivingClaims(folder: string): Promise<string[]> {
  const living: string[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = Number(name.split('-')[0]);
    if (pid === process.pid ? held.has(name) : isAlive(pid)) living.push(name);
    else await rm(join(folder, name), { force: true });
  }
  return living;
}
