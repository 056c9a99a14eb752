import { Injectable, Logger } from '@nestjs/common';
import { DayTablesRepository } from '../../infrastructure/database/day-tables.repository';
import { timeOfId } from '../../infrastructure/database/id-time';
import type { DayPartition, PartitionedTable } from '../../infrastructure/database/partitions';
import { Repeat } from '../../infrastructure/concurrency/repeat.timer';
import { WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { RollUpService } from '../../webhooks/stats/roll-up.service';
import { DeliveriesRepository } from '../deliveries.repository';
import { deliveryError } from '../delivery-error';
import { RetentionCutoffService } from './retention-cutoff.service';
import { RetentionRepository } from './retention.repository';

const EVERY_MS = 3_600_000;
/** Deliveries that one statement cancels. */
const MAX_ROWS = 10_000;

const CLOCK_IN_DOUBT =
  "Dropped nothing: the log has no row from the last day, so PostgreSQL's clock may be ahead; checking again in an hour";
/** How early the timer of the next run may fire. */
const EARLY_MS = 60_000;

/**
 * Drops days that have been past retention for a day, at most one day per run, so that a clock that is far ahead does little damage before an operator
 * notices it. Runs on a timer of this process; only one process at a time does the work. Pending deliveries of events past retention
 * are canceled first; their day is dropped a day later, whatever it contains.
 */
@Injectable()
export class RetentionService {
  private readonly logger = new Logger(RetentionService.name);
  /** When this process first found the log silent, by `performance.now()`; null when it is not silent. */
  private silentSince: number | null = null;

  constructor(
    private readonly cutoff: RetentionCutoffService,
    private readonly deliveries: DeliveriesRepository,
    private readonly rollUp: RollUpService,
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
      const days = await this.daysToDrop();
      if (await this.isClockInDoubt()) {
        if (days.length > 0) this.logger.warn(CLOCK_IN_DOUBT);
        return;
      }
      await this.cancelExpired();
      const until = await this.dropFirst(days);
      await this.retention.forgetPauses(until);
      await this.retention.forgetCounts(until);
      await this.retention.forgetJobs(until);
      const keys = await this.retention.forgetKeys(until);
      if (keys > 0) this.logger.log({ msg: 'idempotency keys deleted', keys });
    });
  }

  private async cancelExpired(): Promise<void> {
    const firstKeptId = this.cutoff.firstKeptId();
    const error = deliveryError('expired', { durationMs: 0, timeoutMs: 0 });
    let total = 0;
    for (let found = MAX_ROWS; found === MAX_ROWS; total += found)
      found = await this.deliveries.cancelExpired(firstKeptId, error, MAX_ROWS);
    if (total === 0) return;
    this.rollUp.note();
    this.logger.warn({ msg: 'pending deliveries past retention canceled', deliveries: total });
  }

  /**
   * Returns the days to drop, oldest first. Deliveries of a day come before its events: a delivery could not be shown
   * without its event.
   */
  private async daysToDrop(): Promise<Day[]> {
    const firstStoredId = this.cutoff.firstStoredId();
    const tables = ['deliveries', 'events'] as const;
    const days = await Promise.all(
      tables.map(async (table) =>
        (await this.days.before(table, firstStoredId)).map((partition) => ({ table, partition })),
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

  /** Drops the first day. Returns the time before which all other data may be deleted, too. */
  private async dropFirst(days: readonly Day[]): Promise<Date> {
    let dropped: DayPartition | null = null;
    for (const { table, partition } of days) {
      if (dropped && dropped.to !== partition.to) break;
      await this.days.drop(table, partition);
      this.logger.log({ msg: 'dropped', day: partition.name });
      dropped = partition;
    }
    return timeOfId(dropped?.to ?? this.cutoff.firstKeptId());
  }
}

interface Day {
  table: PartitionedTable;
  partition: DayPartition;
}
