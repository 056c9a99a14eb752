import { lchown, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SystemUser } from './postgres-user';

/** True when this process runs as root; always false on Windows. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Reads the users of this machine from `/etc/passwd`; empty where there is no such file. */
export function readUsers(): Promise<string> {
  return readFile('/etc/passwd', 'utf8').catch(() => '');
}

/** Returns the user for `spawn`, which requires signed 32-bit numbers where `chown` requires unsigned ones. */
export function asSpawnOptions(user: SystemUser | undefined): Partial<SystemUser> {
  return user ? { uid: user.uid | 0, gid: user.gid | 0 } : {};
}

/** True when the user may pass through the folder and all its parents. The path must be absolute and real. */
export async function canPassThrough(user: SystemUser, folder: string): Promise<boolean> {
  const { mode, uid, gid } = await stat(folder);
  const executeBit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
  if ((mode & executeBit) === 0) return false;
  const parent = dirname(folder);
  return parent === folder || canPassThrough(user, parent);
}

/** Makes the user the owner of the folder and everything in it. */
export async function giveTo(user: SystemUser, folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  for (const path of [folder, ...names.map((name) => join(folder, name))]) await lchown(path, user.uid, user.gid);
}
