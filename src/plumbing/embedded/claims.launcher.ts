import { randomUUID } from 'node:crypto';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from './postgres-process.launcher';

const HEIR = 'heir';

/** Our own claims: a restarted container gets the same process numbers again, also its predecessor's. */
const held = new Set<string>();

/**
 * One process's use of the database. A command may have started what a service has meanwhile come to use, so whoever
 * leaves asks here whether he is the one to end it. All of this happens under the start lock.
 */
export interface Claim {
  /** Whether nobody else used the database when this claim was made. */
  readonly isFirst: boolean;
  /** Ends the claim; true when the database is to be ended too, else its end is handed on to somebody who stays. */
  leave(isOwner: boolean): Promise<boolean>;
}

/** `onFreshServer`: older claims are void, for they were on a server that has ended. */
export async function makeClaim(dataDir: string, onFreshServer: boolean): Promise<Claim> {
  const folder = join(dataDir, 'claims');
  if (onFreshServer) await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
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
  const living = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = Number(name.split('-')[0]);
    if (pid === process.pid ? held.has(name) : isAlive(pid)) living.push(name);
    else await rm(join(folder, name), { force: true });
  }
  return living;
}
