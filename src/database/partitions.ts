import { lowestIdOf } from '../pagination/id-time';

const DAY_MS = 86_400_000;

/** One day of a table that is partitioned by UUIDv7. */
export interface DayPartition {
  name: string;
  /** First id of the day. */
  from: string;
  /** First id of the next day. */
  to: string;
}

/** The partitions of `table` for the UTC days from `firstDay` to `lastDay`, counted from the day of `now`. */
export function dayPartitions(table: string, now: Date, firstDay: number, lastDay: number): DayPartition[] {
  const today = Math.floor(now.getTime() / DAY_MS);
  return Array.from({ length: lastDay - firstDay + 1 }, (_, i) => {
    const start = (today + firstDay + i) * DAY_MS;
    const day = new Date(start).toISOString().slice(0, 10).replaceAll('-', '');
    return { name: `${table}_p${day}`, from: lowestIdOf(start), to: lowestIdOf(start + DAY_MS) };
  });
}
