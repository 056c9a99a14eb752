import { lowestIdOf } from './id-time';
import { DAY_MS } from '../config/durations';

/**
 * Storage parameters of a partition. By default, autovacuum waits until a fifth of the day's rows are dead; until then
 * the partial indexes of open rows consist of dead entries.
 */
export const AUTOVACUUM = 'autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000';

export type PartitionedTable = 'events' | 'deliveries';

export interface DayPartition {
  name: string;
  from: string;
  to: string;
}

/** Returns the partitions of `table` for the UTC days from `firstDay` to `lastDay`, both included; 0 is the day of `now`. */
export function dayPartitions(table: PartitionedTable, now: Date, firstDay: number, lastDay: number): DayPartition[] {
  const today = Math.floor(now.getTime() / DAY_MS);
  return Array.from({ length: lastDay - firstDay + 1 }, (_, i) => partitionOf(table, (today + firstDay + i) * DAY_MS));
}

/** Returns the partition with this name, which must end in `_p` and its UTC day as YYYYMMDD. */
export function dayOfPartition(table: PartitionedTable, name: string): DayPartition {
  const [, year, month, day] = /_p(\d{4})(\d{2})(\d{2})$/.exec(name) ?? [];
  return partitionOf(table, Date.UTC(Number(year), Number(month) - 1, Number(day)));
}

function partitionOf(table: PartitionedTable, startMs: number): DayPartition {
  const day = new Date(startMs).toISOString().slice(0, 10).replaceAll('-', '');
  return { name: `${table}_p${day}`, from: lowestIdOf(startMs), to: lowestIdOf(startMs + DAY_MS) };
}
