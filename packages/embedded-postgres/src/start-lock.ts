import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './postgres-process';

const STALE_AFTER_MS = 60_000;
const HEARTBEAT_MS = 5_000;
const POLL_MS = 25;
/** Longer than a server may take to start. */
const MAX_WAIT_MS = 6 * 60_000;

/** The locks of this process. Its pid alone is not enough: a restarted container gets the same pids again. */
const held = new Set<string>();

/**
 * Runs the action while no other process starts or stops the database of this folder. A lock whose process is dead, or that
 * is silent for a minute, is removed. Rejects with the error of `action`.
 * @throws Error with a readable message when another process holds the lock for six minutes
 */
export async function withStartLock<T>(dataDir: string, action: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const path = join(dataDir, 'start.lock');
  const token = `${process.pid} ${randomUUID()}`;
  const deadline = Date.now() + MAX_WAIT_MS;
  while (!(await tryToCreate(path, token))) {
    await removeIfStale(path);
    if (Date.now() > deadline) throw await heldTooLong(path);
    await sleep(POLL_MS, undefined, { signal });
  }
  held.add(token);
  const heartbeat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), HEARTBEAT_MS);
  heartbeat.unref();
  try {
    return await action();
  } finally {
    clearInterval(heartbeat);
    held.delete(token);
    if ((await readText(path)) === token) await rm(path, { force: true });
  }
}

async function tryToCreate(path: string, token: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(token).finally(() => file.close());
    } catch (error) {
      // On a full disk. An empty lock would block the next start for a minute.
      await rm(path, { force: true });
      throw error;
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function removeIfStale(path: string): Promise<void> {
  const [token, stats] = await Promise.all([readText(path), stat(path).catch(() => null)]);
  if (!stats || !isStale(token, Date.now() - stats.mtimeMs)) return;
  // Two processes may decide this at once. One of them renames the file; the rename of the other fails, or takes a
  // newer lock, which is then put back.
  const aside = `${path}.${randomUUID()}`;
  await rename(path, aside).catch(() => undefined);
  const taken = await readText(aside);
  if (taken !== token) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

function isStale(token: string, ageMs: number): boolean {
  if (ageMs > STALE_AFTER_MS) return true;
  const pid = Number(token.split(' ')[0]);
  // Just after its creation the file is still empty.
  if (!pid) return false;
  return pid === process.pid ? !held.has(token) : !isAlive(pid);
}

async function heldTooLong(path: string): Promise<Error> {
  const pid = (await readText(path)).split(' ')[0] ?? '';
  return new Error(
    `Another process (pid ${pid}) has been starting or stopping PostgreSQL for minutes: end it, or remove ${path}.`,
  );
}

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
