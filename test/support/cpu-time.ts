import { readFileSync } from 'node:fs';

/** Of `/proc/<pid>/stat`: 100 a second on every Linux. */
const TICK_MS = 10;

/**
 * Milliseconds for which a process has used a core: a clock that stands still while other processes have it, so work can be bounded
 * on a busy machine. 0 where the system has no `/proc`.
 */
export function cpuMsOf(pid: number): number {
  try {
    // The name of the program is in parentheses, and may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0;
  }
}
