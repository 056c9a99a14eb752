import { readdir, readFile } from 'node:fs/promises';
import type { ServiceProcess } from '../../support/service-process';
import type { Stage } from './chaos-stage';

/** What a run may use up slowly, by name. Sizes are in MiB. */
export type Sample = Record<string, number>;

/** How far the last fifth of a run may lie above the second one: by this factor and this much more. */
interface Bound {
  factor: number;
  plus: number;
}

const MEMORY: Bound = { factor: 1.3, plus: 60 };
const HANDLES: Bound = { factor: 1.2, plus: 10 };
const BOUNDS: Record<string, Bound> = {
  memory: MEMORY,
  descriptors: HANDLES,
  'PostgreSQL connections': HANDLES,
  // Autovacuum lets them grow to a twentieth of a day and 5,000 more.
  'dead rows': { factor: 2, plus: 15_000 },
  'disk per 1,000 attempts': { factor: 1.2, plus: 0.2 },
  'Redis memory': { factor: 1.3, plus: 10 },
  'Redis connections': HANDLES,
};

const MIB = 1024 ** 2;

const DATABASE = `
  select (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
         (select coalesce(sum(n_dead_tup), 0)::int from pg_stat_user_tables) as dead,
         pg_database_size(current_database())::float8 as size`;

/** Measures all processes and stores of the stage. */
export async function takeSample(stage: Stage): Promise<Sample> {
  const sample: Sample = {};
  for (const process of [stage.api, ...stage.workers]) {
    sample[`memory of ${process.name}`] = await memoryOf(process);
    sample[`descriptors of ${process.name}`] = (await readdir(`/proc/${process.pid}/fd`)).length;
  }
  const [row] = await stage.database.query<Record<'connections' | 'dead' | 'size', number>>(DATABASE);
  const { connections, dead, size } = row!;
  sample['PostgreSQL connections'] = connections;
  sample['dead rows'] = dead;
  sample['disk'] = size / MIB;
  sample['disk per 1,000 attempts'] = size / MIB / Math.max(1, stage.ledger.entries.length / 1000);
  if (!stage.redis) return sample;
  const info = String(await stage.redis.command('INFO'));
  sample['Redis memory'] = Number(/^used_memory:(\d+)/m.exec(info)?.[1]) / MIB;
  sample['Redis connections'] = Number(/^connected_clients:(\d+)/m.exec(info)?.[1]);
  return sample;
}

export interface Trend {
  name: string;
  /** Median of the second fifth. */
  early: number;
  /** Median of the last fifth. */
  late: number;
  /** Null: not bounded. */
  atMost: number | null;
}

/** Compares the second fifth of the samples with the last one. The first one is left out: processes and caches warm up. */
export function trendsOf(samples: readonly Sample[]): Trend[] {
  const fifth = Math.floor(samples.length / 5);
  const medianOf = (name: string, some: readonly Sample[]) => {
    const sorted = some.map((sample) => sample[name] ?? NaN).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? NaN;
  };
  return Object.keys(samples[0] ?? {}).map((name) => {
    const early = medianOf(name, samples.slice(fifth, 2 * fifth));
    const late = medianOf(name, samples.slice(-fifth));
    const bound = BOUNDS[name.replace(/ of .*/, '')];
    return { name, early, late, atMost: bound ? early * bound.factor + bound.plus : null };
  });
}

export function trendTable(trends: readonly Trend[]): string {
  const cell = (value: number | null) => (value === null ? '-' : value.toFixed(1)).padStart(10);
  const lines = trends.map(
    ({ name, early, late, atMost }) => `  ${name.padEnd(28)}${[early, late, atMost].map(cell).join('')}`,
  );
  return [`  ${''.padEnd(28)}second 1/5  last 1/5   at most`, ...lines].join('\n');
}

async function memoryOf({ pid }: ServiceProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}
