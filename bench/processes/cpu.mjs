// Processor time of processes, out of /proc: on Linux only.
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const CLOCK_TICKS_PER_S = 100;

export const canMeasureCpu = existsSync('/proc/self/stat');

/** What /proc tells of a process, after its id and name. */
function statOf(pid) {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  return fields.split(' ');
}

/** Processor time of a process in ms, its ended children included. */
export function cpuMs(pid) {
  const fields = statOf(pid);
  return (fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 1000) / CLOCK_TICKS_PER_S;
}

/** The same of a process and its children. */
export function treeCpuMs(pid) {
  return [pid, ...childrenOf(pid)].reduce((sum, one) => sum + cpuMs(one), 0);
}

function childrenOf(pid) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return statOf(name)[1] === String(pid);
      } catch {
        return false;
      }
    });
}

/** The process of the PostgreSQL server. */
export async function postmasterOf(service) {
  const [{ folder }] = await service.query(`select current_setting('data_directory') as folder`);
  return readFileSync(`${folder}/postmaster.pid`, 'utf8').split('\n')[0];
}
