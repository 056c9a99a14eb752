import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { DayTablesRepository } from '../../plumbing/database/day-tables.repository';
import { timeOfId } from '../../plumbing/database/id-time';
import type { DayPartition, PartitionedTable } from '../../plumbing/database/partitions';
import { Repeat } from '../../plumbing/timers/repeat.timer';
import { RetentionCutoffService } from './retention-cutoff.service';
import { RetentionRepository } from './retention.repository';

const EVERY_MS = 3_600_000;

const CLOCK_IN_DOUBT =
  'Nothing is dropped: the log has no row of the last day, so the clock of PostgreSQL may be ahead. A run in an hour decides.';
/** The timer of the next run may be early by this much. */
const EARLY_MS = 60_000;

/**
 * Drops what is past retention, at most one day in a run, so that a clock that is far ahead costs little before somebody
 * notices it. It runs from a timer of this process; only one process at a time does the work. A day that still has something
 * to deliver stays.
 */
@Injectable()
export class RetentionService implements OnApplicationShutdown {
  private readonly logger = new Logger('Retention');
  /** When this process first saw that the log was silent, by `performance.now()`; null: it is not. */
  private silentSince: number | null = null;
  private readonly repeat = new Repeat(() => this.apply(), {
    everyMs: EVERY_MS,
    onFailure: (error) =>
      this.logger.error(`What is past retention could not be dropped; the next try is in an hour: ${String(error)}`),
  });

  constructor(
    private readonly cutoff: RetentionCutoffService,
    private readonly days: DayTablesRepository,
    private readonly retention: RetentionRepository,
  ) {}

  /** Begins with a run now; the next ones follow every hour. */
  start(): void {
    this.repeat.start();
  }

  /** Begins no further run. Resolves when the run under way has ended. */
  stop(): Promise<void> {
    return this.repeat.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  /** One run. Does nothing while another process does it, or while the clock is in doubt. Throws while PostgreSQL is away. */
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
      if (keys > 0) this.logger.log({ msg: 'idempotency keys forgotten', keys });
    });
  }

  /** Oldest first. Of one day deliveries come first: a delivery could not be shown without its event. */
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
   * After a jump of the clock the whole log is old. A log that was silent for a day looks the same, so the second run decides,
   * an hour later. Rows of the last hour prove nothing: they may have been written after the jump.
   */
  private async isClockInDoubt(): Promise<boolean> {
    if (!(await this.retention.isSilent())) {
      this.silentSince = null;
      return false;
    }
    this.silentSince ??= performance.now();
    return performance.now() - this.silentSince < EVERY_MS - EARLY_MS;
  }

  /** Drops the first day that nothing needs. Returns up to when everything else may be forgotten, too. */
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
      this.logger.warn(`${day.name} is past retention and kept: something of it is still to be delivered.`);
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
