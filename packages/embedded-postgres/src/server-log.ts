import { type FileHandle, open, readFile, rename, stat } from 'node:fs/promises';

const MAX_BYTES = 1024 * 1024;
const TAIL_LINES = 20;

/** Opens the server's log for the next start. A log over 1 MiB is first renamed to `.old`, replacing an older one. */
export async function openServerLog(path: string): Promise<{ file: FileHandle; startsAt: number }> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size > MAX_BYTES) await rename(path, `${path}.old`);
  return { file: await open(path, 'a', 0o600), startsAt: size > MAX_BYTES ? 0 : size };
}

/** Returns the last 20 lines of the log after byte `startsAt`. Empty when there is no log. Never throws. */
export async function readServerLog(path: string, startsAt = 0): Promise<string> {
  const written = (await readFile(path).catch(() => Buffer.alloc(0))).subarray(startsAt);
  return written.toString().trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
}
