// Processor time of processes, from /proc: on Linux only.
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const CLOCK_TICKS_PER_S = 100;

export const canMeasureCpu = existsSync('/proc/self/stat');

/** Returns the fields that /proc shows of a process after its id and name. */
function statOf(pid) {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  return fields.split(' ');
}

const msOf = (fields) =>
  (fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 1000) / CLOCK_TICKS_PER_S;

/** Returns the processor time of a process in ms, including its ended children. */
export const cpuMs = (pid) => msOf(statOf(pid));

/** Returns the processor time of a process and its children in ms. */
export function treeCpuMs(pid) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const fields = statOf(name);
        return name === String(pid) || fields[1] === String(pid) ? [msOf(fields)] : [];
      } catch {
        // It ended since the folder was read; its parent counts its time.
        return [];
      }
    })
    .reduce((sum, ms) => sum + ms, 0);
}

/** Returns the process of the PostgreSQL server. */
export async function postmasterOf(service) {
  const [{ folder }] = await service.query(`select current_setting('data_directory') as folder`);
  return readFileSync(`${folder}/postmaster.pid`, 'utf8').split('\n')[0];
}
