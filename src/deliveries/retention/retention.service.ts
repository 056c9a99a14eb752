import { Injectable, Logger } from '@nestjs/common';
import { DayTablesRepository } from '../../infrastructure/database/day-tables.repository';
import { timeOfId } from '../../infrastructure/database/id-time';
import type { DayPartition, PartitionedTable } from '../../infrastructure/database/partitions';
import { Repeat } from '../../infrastructure/concurrency/repeat.timer';
import { WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { RetentionCutoffService } from './retention-cutoff.service';
import { RetentionRepository } from './retention.repository';

const EVERY_MS = 3_600_000;

const CLOCK_IN_DOUBT =
  "Dropped nothing: the log has no row from the last day, so PostgreSQL's clock may be ahead; checking again in an hour";
/** How early the timer of the next run may fire. */
const EARLY_MS = 60_000;

/**
 * Drops days past retention, at most one day per run, so that a clock that is far ahead does little damage before an operator
 * notices it. Runs on a timer of this process; only one process at a time does the work. A day with deliveries still to be made
 * is kept.
 */
@Injectable()
export class RetentionService {
  private readonly logger = new Logger(RetentionService.name);
  /** When this process first found the log silent, by `performance.now()`; null when it is not silent. */
  private silentSince: number | null = null;

  constructor(
    private readonly cutoff: RetentionCutoffService,
    private readonly days: DayTablesRepository,
    private readonly retention: RetentionRepository,
    tasks: WorkerTasksService,
  ) {
    const onFailure = (error: unknown): void =>
      this.logger.error(`Dropping days past retention failed; retrying in an hour: ${String(error)}`);
    tasks.add(new Repeat(() => this.apply(), { everyMs: EVERY_MS, onFailure }));
  }

  /**
   * Performs one run. Does nothing while another process runs, or while the clock is in doubt. Throws while PostgreSQL is
   * unavailable.
   */
  async apply(): Promise<void> {
    await this.days.alone(async () => {
      const days = await this.daysPastRetention();
      if (await this.isClockInDoubt()) {
        if (days.length > 0) this.logger.warn(CLOCK_IN_DOUBT);
        return;
      }
      const until = await this.dropFirst(days);
      await this.retention.forgetPauses(until);
      await this.retention.forgetCounts(until);
      await this.retention.forgetJobs(until);
      const keys = await this.retention.forgetKeys(until);
      if (keys > 0) this.logger.log({ msg: 'idempotency keys deleted', keys });
    });
  }

  /**
   * Returns the days past retention, oldest first. Deliveries of a day come before its events: a delivery could not be shown
   * without its event.
   */
  private async daysPastRetention(): Promise<Day[]> {
    const firstKeptId = this.cutoff.firstKeptId();
    const tables = ['deliveries', 'events'] as const;
    const days = await Promise.all(
      tables.map(async (table) =>
        (await this.days.before(table, firstKeptId)).map((partition) => ({ table, partition })),
      ),
    );
    return days.flat().sort((a, b) => (a.partition.to < b.partition.to ? -1 : Number(a.partition.to > b.partition.to)));
  }

  /**
   * After a jump of the clock the whole log is old. A log that was silent for a day looks the same, so the second run, an hour
   * later, decides. Rows from the last hour prove nothing: they may have been written after the jump.
   */
  private async isClockInDoubt(): Promise<boolean> {
    if (!(await this.retention.isSilent())) {
      this.silentSince = null;
      return false;
    }
    this.silentSince ??= performance.now();
    return performance.now() - this.silentSince < EVERY_MS - EARLY_MS;
  }

  /** Drops the first day that is no longer needed. Returns the time before which all other data may be deleted, too. */
  private async dropFirst(days: readonly Day[]): Promise<Date> {
    let dropped: DayPartition | null = null;
    for (const { table, partition } of days) {
      if (dropped && dropped.to !== partition.to) break;
      if (await this.drop(table, partition)) dropped = partition;
    }
    return timeOfId(dropped?.to ?? this.cutoff.firstKeptId());
  }

  private async drop(table: PartitionedTable, day: DayPartition): Promise<boolean> {
    if (await this.retention.isNeeded(table, day)) {
      this.logger.warn(`${day.name} is past retention but has deliveries still to be made; keeping it`);
      return false;
    }
    await this.days.drop(table, day);
    this.logger.log({ msg: 'dropped', day: day.name });
    return true;
  }
}

interface Day {
  table: PartitionedTable;
  partition: DayPartition;
}
