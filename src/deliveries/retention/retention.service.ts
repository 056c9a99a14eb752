import { Injectable, Logger } from '@nestjs/common';
import { ClockService } from '../../infrastructure/database/clock.service';
import { DayTablesRepository } from '../../infrastructure/database/day-tables.repository';
import { lowestIdOf, timeOfId } from '../../infrastructure/database/id-time';
import type { DayPartition, PartitionedTable } from '../../infrastructure/database/partitions';
import { StatementsService } from '../../infrastructure/database/statements.service';
import { Repeat } from '../../infrastructure/concurrency/repeat.timer';
import { WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { RollUpService } from '../../webhooks/stats/roll-up.service';
import { OutcomesRepository } from '../rows/outcomes.repository';
import { deliveryError } from '../rows/delivery-error';
import { RetentionCutoffService } from '../rows/retention-cutoff.service';
import { HOUR_MS, MINUTE_MS } from '../../infrastructure/config/durations';

const EVERY_MS = HOUR_MS;
/** Maximum number of rows that a statement cancels or deletes, so that it holds its locks only briefly. */
const MAX_ROWS = 10_000;

const IS_SILENT = `
  select (select id from webhook_service.events where id >= $1 and id < $2 order by id limit 1) is null
     and (select id from webhook_service.deliveries where id >= $1 and id < $2 order by id limit 1) is null as silent`;

/** Deletes one page of rows of a table. Those that another transaction has locked stay until the next run. */
const forget = (table: string, where: string): string => `
  delete from webhook_service.${table} where ctid = any(array(
    select ctid from webhook_service.${table} where ${where} limit ${MAX_ROWS} for update skip locked))`;

const FORGET_KEYS = forget('event_keys', 'created_at < $1');

const FORGET_PAUSES = forget('webhook_pauses', 'ended_at < $1');

const FORGET_COUNTS = ['attempt_counts', 'user_attempt_counts'].map((table) =>
  forget(table, `at < $1::timestamptz - interval '1 hour'`),
);

const FORGET_RECOVERIES = forget('recoveries', 'completed_at < $1 order by completed_at');

/** A job that is deleted from its queue without an event would otherwise stay forever. */
const FORGET_JOBS = forget('queue_jobs', `noted_at < least($1::timestamptz, now() - interval '30 days')`);

const CLOCK_IN_DOUBT =
  "Dropped nothing: the log has no row from the last day, so PostgreSQL's clock may be ahead; checking again in an hour";
/** How early the timer of the next run may fire. */
const EARLY_MS = MINUTE_MS;

/**
 * Drops days that have been past retention for a day, at most one day per run, so that a clock that is far ahead does little
 * damage before an operator notices it. Runs on a timer of this process; only one process at a time does the work. Pending
 * deliveries of events past retention are canceled first; their day is dropped a day later, whatever it contains.
 */
@Injectable()
export class RetentionService {
  private readonly logger = new Logger(RetentionService.name);
  /** When this process first found the log silent, by `performance.now()`; null when it is not silent. */
  private silentSince: number | null = null;

  constructor(
    private readonly cutoff: RetentionCutoffService,
    private readonly clock: ClockService,
    private readonly outcomes: OutcomesRepository,
    private readonly rollUp: RollUpService,
    private readonly days: DayTablesRepository,
    private readonly statements: StatementsService,
    tasks: WorkerTasksService,
  ) {
    const onFailure = (error: unknown): void =>
      this.logger.error(`Dropping days past retention failed; retrying in an hour: ${String(error)}`);
    tasks.add(new Repeat(() => this.apply(), { everyMs: EVERY_MS, onFailure }));
  }

  /** Does nothing while another process runs, or while the clock is in doubt. */
  async apply(): Promise<void> {
    await this.days.alone(async () => {
      const days = await this.daysToDrop();
      if (await this.isClockInDoubt()) {
        if (days.length > 0) this.logger.warn(CLOCK_IN_DOUBT);
        return;
      }
      await this.cancelExpired();
      const until = await this.dropFirst(days);
      // No recovery uses these pauses any more.
      await this.inPages(FORGET_PAUSES, until);
      for (const statement of FORGET_COUNTS) await this.inPages(statement, until);
      await this.inPages(FORGET_RECOVERIES, until);
      await this.inPages(FORGET_JOBS, until);
      const keys = await this.inPages(FORGET_KEYS, until);
      if (keys > 0) this.logger.log({ msg: 'idempotency keys deleted', keys });
    });
  }

  private async cancelExpired(): Promise<void> {
    const firstKeptId = this.cutoff.firstKeptId();
    const error = deliveryError('expired', { durationMs: 0, timeoutMs: 0 });
    const total = await this.outcomes.cancelExpired(firstKeptId, error, MAX_ROWS);
    if (total === 0) return;
    this.rollUp.note();
    this.logger.warn({ msg: 'pending deliveries past retention canceled', deliveries: total });
  }

  /** Oldest first; deliveries of a day before its events, without which they could not be shown. */
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
    const hourAgoMs = this.clock.now().getTime() - HOUR_MS;
    const lastDay = [lowestIdOf(hourAgoMs - 24 * HOUR_MS), lowestIdOf(hourAgoMs)];
    const [row] = await this.statements.runByIndex<{ silent: boolean }>(IS_SILENT, lastDay);
    if (row?.silent === false) {
      this.silentSince = null;
      return false;
    }
    this.silentSince ??= performance.now();
    return performance.now() - this.silentSince < EVERY_MS - EARLY_MS;
  }

  private async inPages(statement: string, until: Date): Promise<number> {
    let total = 0;
    for (let found = MAX_ROWS; found === MAX_ROWS; total += found)
      found = Number((await this.statements.runByIndex<unknown>(statement, [until]))[1]);
    return total;
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
