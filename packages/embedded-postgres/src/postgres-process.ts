import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** True when a process has this pid, whatever its user. Never throws. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The first arguments of every server that this package starts. They identify its process later. */
export function identifyingArguments(folder: string): string[] {
  return ['-D', folder, '-c', 'cluster_name=webhook-notification-service'];
}

/**
 * True when the process is the server of this folder. The pid alone is not enough, because another process may have it
 * now. A zombie has no command line, and therefore counts as gone. Windows shows no command lines: any living process
 * counts there.
 */
export async function isServerOf(pid: number, folder: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform === 'win32') return true;
  return (await readCommandLine(pid)).includes(`postgres ${identifyingArguments(folder).join(' ')}`);
}

async function readCommandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ');
  }
  const result = await run('/bin/ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return result.stdout;
}
